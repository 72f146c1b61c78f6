import ControlIO
import Foundation
import HTTPServing
import KafkaIO
import Logging
import PublishEngine
import PublisherService
import StatusServer
import Synchronization
import TestSupport

/// A working publisher between a broker and a hub in this process, with a status server.
struct StatusRoom {
    let newsroom: Newsroom
    let publisher: Publisher
    let server: RunningServer
    let log = LogCatcher()
    private let running: Task<Void, any Error>

    /// - Parameters:
    ///   - runs: `false` leaves the publisher in the state before its start.
    ///   - controls: `true` to show and accept orders.
    ///   - topics: `true` to create the control topics.
    ///   - floodGuard: off by default, because most tests need failures without a flood.
    init(
        token: String? = nil, runs: Bool = true, controls: Bool = false, topics: Bool = true,
        floodGuard: FloodGuard.Settings = .init(sharePercent: 0),
        configure: (inout StatusServerSettings) -> Void = { _ in }
    ) async throws {
        newsroom = try await Newsroom(partitions: 2)
        publisher = try newsroom.publisher(
            try newsroom.settings {
                $0.engine.probeFirst = .milliseconds(50)
                $0.engine.probeLongest = .milliseconds(200)
                $0.engine.floodGuard = floodGuard
                $0.shards = 2
            })
        var status = StatusServerSettings.patient(token: token)
        configure(&status)
        if controls, topics {
            for (topic, partitions) in [("news.control", 1), ("news.audit", 1), ("news.held", 2)] {
                try newsroom.broker.create(topic: topic, partitions: partitions)
            }
        }
        let clock = ServiceClock()
        let names = NamedTopics(
            results: Topics.results, held: ControlTopics().held,
            lanes: [.init(topic: Topics.events, group: newsroom.kafka.group)])
        let control = controls ? ControlMonitor(newsroom.kafka, ControlTopics(), names: names) { clock.now } : nil
        let log = log
        server = try await StatusServer(
            status, publisher: publisher, control: control, log: Logger(label: "status") { _ in log.handler }
        ).start()
        running = Task { [publisher] in if runs { try await publisher.run() } }
    }

    func close() async throws {
        publisher.drain()
        try await running.value
        await server.stop()
        await newsroom.close()
    }

    func get(_ target: String) async throws -> RawClient.Reply { try await call("GET", target) }

    func call(
        _ method: String, _ target: String, headers: [(String, String)] = [], body: String = ""
    ) async throws -> RawClient.Reply {
        try await RawClient.call(server.port, method, target, headers: headers, body: body)
    }

    /// Follows the stream of statuses until one satisfies the condition.
    func status(where isWanted: (Status) -> Bool) async throws -> Status {
        try await RawClient.events(server.port, "/api/stream") { event in
            let status = try JSONDecoder().decode(Status.self, from: Data(event.utf8))
            return isWanted(status) ? status : nil
        }
    }

    /// The parts of a status that tests read.
    struct Status: Decodable {
        var ready: Bool
        var healthy: Bool
        var halts: [Halt]
        var limitedBy: [String]
        var requests: Int
        /// The events on the held topic; `nil` without one.
        var held: Held?
        var lanes: [Lane]

        struct Held: Decodable, Equatable {
            var events: Int
            var ours: Int
            var nextDue: String?
        }

        struct Halt: Decodable {
            var reason: String
            var remedy: String
        }

        struct Lane: Decodable {
            var name: String
            var partitions: Int?
            var paused: Bool
            var flooded: Bool
            var lag: Int?
            var held: Int
            var outcomes: [String: Int]
            var deadLetters: [String: Int]
        }

        var settled: Int { lanes.reduce(0) { $0 + $1.outcomes.values.reduce(0, +) } }
    }
}

extension StatusServerSettings {
    /// Settings with a free port and limits that no test reaches, even a slow one.
    static func patient(token: String? = nil) -> StatusServerSettings {
        var settings = StatusServerSettings(port: 0, token: BearerToken(token))
        settings.limits = ConnectionLimits(
            firstByte: .seconds(120), head: .seconds(120), body: .seconds(120), idle: .seconds(120),
            write: .seconds(120), connectionsMax: 128, streamsMax: 32)
        return settings
    }
}

/// Records the lines of a log.
final class LogCatcher: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var handler: any LogHandler { Handler(catcher: self) }

    private struct Handler: LogHandler {
        let catcher: LogCatcher
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            catcher.lines.withLock { $0.append(([event.message.description] + fields).joined(separator: " ")) }
        }
    }
}
