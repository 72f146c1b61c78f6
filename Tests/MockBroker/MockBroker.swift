import Foundation
import KafkaIO

/// `mockbroker TOPIC:PARTITIONS…`: a broker in a separate process. Prints its address, and ends when its standard input
/// is closed, so that it never outlives the test that started it.
@main
struct MockBroker {
    static func main() throws {
        let topics = CommandLine.arguments.dropFirst().compactMap { argument -> (String, Int)? in
            let parts = argument.split(separator: ":")
            guard parts.count == 2, let partitions = Int(parts[1]) else { return nil }
            return (String(parts[0]), partitions)
        }
        let broker = try EmbeddedBroker(topics: topics)
        print(broker.bootstrapServers.joined(separator: ","))
        fflush(nil)
        _ = try FileHandle.standardInput.readToEnd()
        withExtendedLifetime(broker) {}
    }
}
