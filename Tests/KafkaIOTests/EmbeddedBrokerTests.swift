import Foundation
import KafkaIO
import KafkaModel
import TestSupport
import Testing

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct EmbeddedBrokerTests {
    @Test(arguments: [false, true])
    func `answers of the embedded broker do not wait for acknowledgements of earlier ones`(afterRestart: Bool) throws {
        let broker = try EmbeddedBroker(topics: [("news", 1)])
        if afterRestart {
            broker.setDown()
            broker.setUp()
        }
        let publisher = try RecordPublisher(settings: broker.settings(group: "test"))
        try publisher.publish(ProducedRecord(topic: "news", partition: 0, key: nil, value: nil))
        try publisher.flush()

        let port = try #require(broker.ports.first)
        let sockets = try Self.sockets(of: port)
        // One socket accepts connections; the others are connections.
        #expect(sockets.count > 1)
        #expect(sockets.allSatisfy { Self.isNagleDisabled($0) })
    }

    /// Returns this process's sockets that are bound to a port.
    private static func sockets(of port: UInt16) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/dev/fd").compactMap { Int32($0) }.filter { socket in
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout.size(ofValue: address))
            let error = withUnsafeMutablePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
            }
            return error == 0 && address.sin_family == AF_INET && UInt16(bigEndian: address.sin_port) == port
        }
    }

    private static func isNagleDisabled(_ socket: Int32) -> Bool {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout.size(ofValue: value))
        return getsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &length) == 0 && value != 0
    }
}
