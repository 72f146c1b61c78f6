import Foundation
import HubEmulator
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import TestSupport
import Testing

/// A broker in a separate process, a hub in this one, and publishers that tests start, freeze and kill.
final class FireRoom: @unchecked Sendable {
    let folder: URL
    let hub: RunningHub
    let kafka: KafkaSettings
    private let broker: ChildProcess
    private let partitions: Int

    /// Starts broker and hub. The session must outlast the first join, which takes 3 s with this broker.
    ///
    /// - Parameter yaml: the rest of the configuration.
    init(
        partitions: Int, topics: [String] = ["news.events"], properties: String = "session.timeout.ms: 4000",
        _ yaml: String
    ) async throws {
        self.partitions = partitions
        folder = FileManager.default.temporaryDirectory.appending(path: "fire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        broker = try ChildProcess(
            "mockbroker",
            (topics + ["news.results", "news.dead-letters", "news.held"]).map { "\($0):\(partitions)" }
                + ["news.control:1", "news.audit:1"], in: folder)
        while !broker.output.hasSuffix("\n"), broker.isRunning { moment() }
        let servers = broker.output.trimmingCharacters(in: .newlines)
        kafka = KafkaSettings(
            bootstrapServers: [servers], group: "newswire", properties: ["fetch.wait.max.ms": "10"])
        hub = try await Newsroom.hub {
            $0.messagesKept = 1_000_000
            $0.messageBytesKept = 1 << 30
        }
        let text = """
            kafka:
              bootstrapServers: ["\(servers)"]
              properties: {fetch.wait.max.ms: 10, heartbeat.interval.ms: 500, \(properties)}
            hub: {connectionString: "\(hub.connectionString.revealed)", name: breaking-news, connections: 64}
            http: {listen: off}
            \(yaml)
            """
        try Data(text.utf8).write(to: configuration)
    }

    /// Sends a signal to the broker. SIGSTOP freezes it, and SIGCONT resumes it.
    func signalBroker(_ number: Int32) { broker.signal(number) }

    func run(_ arguments: String..., environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(
            "newswire", ["run", "--config", configuration.path] + arguments,
            environment: environment, in: folder)
    }

    /// Runs another command with this configuration.
    func command(_ name: String, _ arguments: String...) throws -> ChildProcess {
        try ChildProcess("newswire", [name, "--config", configuration.path] + arguments, in: folder)
    }

    var configuration: URL { folder.appending(path: "newswire.yaml") }

    /// Publishes numbered events, one partition after another.
    func publish(
        _ numbers: ClosedRange<Int>, to topic: String = "news.events", rate: Int? = nil,
        _ json: (Int) -> String = { #"{"id":"\#($0)","headline":"Headline \#($0).","category":"World"}"# },
        partition: (Int) -> Int = { $0 }
    ) throws {
        let publisher = try RecordPublisher(settings: kafka)
        for number in numbers {
            try publisher.publish(
                ProducedRecord(
                    topic: topic, partition: Int32(partition(number) % partitions), key: Array("\(number)".utf8),
                    value: Array(json(number).utf8)))
        }
        try publisher.flush()
    }

    /// All results on the topic.
    func results() throws -> [ResultRecord] { try Topics(kafka: kafka, partitions: partitions).results() }

    func close() async {
        broker.closeInput()
        await hub.stop()
        try? FileManager.default.removeItem(at: folder)
    }
}

/// The number in `Headline N.` of a message's body.
func number(of message: ReceivedMessage) throws -> Int {
    let text = String(decoding: message.body, as: UTF8.self)
    let start = try #require(text.range(of: "Headline ")).upperBound
    return try #require(Int(text[start...].prefix { $0 != "." }))
}

/// A whole number from the environment, for longer runs than the suite's.
func scale(_ name: String, _ fallback: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? fallback
}

/// True if tests that take minutes and need a quiet machine are enabled.
let isUnderFire = ProcessInfo.processInfo.environment["NEWSWIRE_FIRE"] != nil
let underFireHint = "takes minutes and a quiet machine: set NEWSWIRE_FIRE=1"

/// Waits two milliseconds, because no signal reports the progress of another process.
func moment() { usleep(2_000) }
