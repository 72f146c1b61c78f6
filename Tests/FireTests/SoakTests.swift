import ByteText
import Foundation
import HubEmulator
import HubServer
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A simulated day in minutes: a steady stream, random faults of the hub, members that join and leave, and a reload
/// every half minute.
@Suite(.ownThread)
struct SoakTests {
    @Test(.enabled(if: isSoaking, "takes the minutes of NEWSWIRE_SOAK, e.g. 10"), .timeLimit(.minutes(120)))
    func `under faults, rebalances and reloads nothing is lost, nothing grows, and the metrics agree`() async throws {
        let room = try await FireRoom(
            partitions: 16, "lanes: {live: {topics: [news.events]}}\nretry: {maxDelay: 2s}\nlogging: {format: json}")
        let soak = try Soak(room, seed: UInt64(scale("NEWSWIRE_SOAK_SEED", 1)))
        try soak.run(for: .seconds(60 * scale("NEWSWIRE_SOAK", 10)))
        await room.close()
    }
}

private let isSoaking = ProcessInfo.processInfo.environment["NEWSWIRE_SOAK"] != nil

private final class Soak: @unchecked Sendable {
    private static let perSecond = 1_000
    private let room: FireRoom
    private var random: SeededRandom
    private let configuration: String
    private let first: ChildProcess
    /// The group member that joins and leaves.
    private var second: ChildProcess?
    private let ledger: SoakLedger
    private let published = Atomic<Int>(0)
    private let isPublishing = Atomic<Bool>(true)
    private var samples: [(memory: Int, files: Int)] = []
    private var done = (faults: 0, joins: 0, reloads: 0, refused: 0)

    init(_ room: FireRoom, seed: UInt64) throws {
        self.room = room
        random = SeededRandom(seed: seed)
        configuration = try String(contentsOf: room.configuration, encoding: .utf8)
        ledger = SoakLedger(room.kafka)
        first = try Self.member(room)
    }

    private static func member(_ room: FireRoom) throws -> ChildProcess {
        try room.run(environment: ["NEWSWIRE_HTTP_LISTEN": "127.0.0.1:0"])
    }

    func run(for duration: Duration) throws {
        ledger.start()
        Thread.detachNewThread { [self] in
            do { try publish() } catch { Issue.record("publishing: \(error)") }
        }
        let start = ContinuousClock.now
        var seconds = 0
        while start.duration(to: .now) < duration {
            usleep(1_000_000)
            seconds += 1
            try second(seconds)
            guard first.isRunning else { break }
        }
        isPublishing.store(false, ordering: .relaxed)
        room.hub.clearFaults()
        try leave()
        settle()
        try judge(seconds)
    }

    private func publish() throws {
        let publisher = try RecordPublisher(settings: room.kafka)
        let start = ContinuousClock.now
        var count = 0
        while isPublishing.load(ordering: .relaxed) {
            let due = Int(start.duration(to: .now) / .milliseconds(1)) * Self.perSecond / 1_000
            while count < due {
                let json = #"{"id":"\#(count)","headline":"Headline \#(count)","category":"World"}"#
                try publisher.publish(
                    ProducedRecord(
                        topic: "news.events", partition: Int32(count % 16), key: Array("\(count)".utf8),
                        value: Array(json.utf8)))
                count += 1
            }
            try publisher.flush()
            published.store(count, ordering: .relaxed)
            usleep(20_000)
        }
    }

    // MARK: Events

    private func second(_ number: Int) throws {
        if number % 5 == 0 { misbehave() }
        if number % 30 == 0 { try reload(number / 30) }
        // A member never starts in the second of a reload, because it must find a valid file.
        if number % 50 == 22 {
            try Data(configuration.utf8).write(to: room.configuration)
            second = try Self.member(room)
            done.joins += 1
        }
        if number % 50 == 45 { try leave() }
        if number % 5 == 0, let memory = first.memory, let files = first.openFiles { samples.append((memory, files)) }
    }

    private func misbehave() {
        room.hub.clearFaults()
        var fault = HubFault()
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return
        case 1: fault.status = 503
        case 2:
            fault.status = 429
            fault.retryAfter = 1
            fault.callsLeft = 5
        case 3: fault.status = 500
        case 4: fault.latencyMilliseconds = 300
        case 5: fault.reset = .after
        case 6: fault.expiresTokens = true
        default: fault.status = 400
        }
        if fault.callsLeft == nil { fault.shareMillionths = UInt64.random(in: 10_000...200_000, using: &random) }
        room.hub.add(fault)
        done.faults += 1
    }

    /// Every third file has a mistake and must be refused.
    private func reload(_ number: Int) throws {
        let rate = number % 3 == 0 ? "none" : "\(3_000 + number % 2)"
        let text = configuration + "\nrate: {perSecond: \(rate), burst: 100}\n"
        try Data(text.utf8).write(to: room.configuration)
        first.signal(SIGHUP)
        second?.signal(SIGHUP)
        if rate == "none" { done.refused += 1 } else { done.reloads += 1 }
    }

    private func leave() throws {
        guard let leaving = second else { return }
        second = nil
        leaving.signal(SIGTERM)
        #expect(leaving.wait() == 0, "\(leaving.output.suffix(2_000))")
        ledger.ended(leaving.output)
    }

    /// Waits until every event has its result, or nothing has arrived for half a minute.
    private func settle() {
        var (last, quiet) = (-1, 0)
        while ledger.settled < published.load(ordering: .relaxed), quiet < 30 {
            usleep(1_000_000)
            quiet = ledger.settled == last ? quiet + 1 : 0
            last = ledger.settled
        }
    }

    // MARK: Outcome

    private func judge(_ seconds: Int) throws {
        let address = try #require(first.output.firstMatch(of: /http:\/\/127\.0\.0\.1:[0-9]+/)).output
        let page = try String(contentsOf: try #require(URL(string: "\(address)/metrics")), encoding: .utf8)
        for line in page.matches(of: /newswire_deliveries_total\{lane="live",outcome="([a-z]+)"\} ([0-9]+)/) {
            ledger.metrics[String(line.1), default: 0] += Int(line.2) ?? 0
        }
        let output = first.output
        first.signal(SIGTERM)
        #expect(first.wait() == 0, "\(first.output.suffix(2_000))")
        ledger.stop()
        let early = samples.dropFirst(samples.count / 5).prefix(samples.count / 5)
        let late = samples.suffix(samples.count / 5)
        print(
            """
            soak: \(seconds) s, \(ledger.events) events, results \(ledger.outcomes.sorted { $0.key < $1.key }), \
            settled twice \(ledger.repeats), faults \(done.faults), joins \(done.joins), reloads \(done.reloads) and \
            \(done.refused) refused, memory \(early.map(\.memory)) then \(late.map(\.memory)) MiB, \
            files \(early.map(\.files)) then \(late.map(\.files))
            """)
        #expect(ledger.events == published.load(ordering: .relaxed))
        #expect(ledger.outcomes == ledger.metrics.filter { $0.value > 0 })
        #expect(output.matches(of: /"settings reloaded"/).count == done.reloads)
        #expect(output.matches(of: /"reload refused/).count == done.refused)
        let most = { (values: [Int]) in values.max() ?? 0 }
        #expect(most(late.map(\.memory)) <= most(early.map(\.memory)) * 11 / 10 + 4)
        // The number of connections to the hub varies with its faults; there are at most 64.
        #expect(most(late.map(\.files)) <= most(early.map(\.files)) + 64)
    }
}

/// Reads every result as it arrives: the test's broker drops the oldest.
private final class SoakLedger: @unchecked Sendable {
    private struct Counts {
        var seen: [Int: Int] = [:]
        var outcomes: [String: Int] = [:]
    }

    private let kafka: KafkaSettings
    private let counts = Mutex(Counts())
    private let isReading = Atomic<Bool>(true)
    private let finished = DispatchSemaphore(value: 0)
    /// The counts that the members report, by outcome.
    var metrics: [String: Int] = [:]

    init(_ kafka: KafkaSettings) { self.kafka = kafka }

    var settled: Int { counts.withLock(\.seen.count) }
    var events: Int { settled }
    var outcomes: [String: Int] { counts.withLock(\.outcomes) }
    var repeats: Int { counts.withLock { $0.seen.values.reduce(0) { $0 + $1 - 1 } } }

    func start() {
        Thread.detachNewThread { [self] in
            defer { finished.signal() }
            do {
                let reader = try TopicReader(settings: kafka, topic: "news.results", follow: true)
                var rest = true
                while isReading.load(ordering: .relaxed) || rest {
                    let read = try reader.next(timeout: .milliseconds(100))
                    rest = !read.isEmpty
                    let results = try read.map { try ResultRecord(decoding: $0.record.value ?? []) }
                    counts.withLock { counts in
                        for result in results {
                            counts.seen[Int(result.eventID ?? "") ?? -1, default: 0] += 1
                            counts.outcomes[result.outcome.rawValue, default: 0] += 1
                        }
                    }
                }
            } catch {
                Issue.record("reading results: \(error)")
            }
        }
    }

    func stop() {
        isReading.store(false, ordering: .relaxed)
        finished.wait()
    }

    /// The last line of a member has its counts by outcome.
    func ended(_ output: String) {
        for line in output.split(separator: "\n") where line.contains(#""message":"ended""#) {
            for outcome in Outcome.allCases {
                let count = try? Regex("\"\(outcome.rawValue)\":([0-9]+)", as: (Substring, Substring).self)
                    .firstMatch(in: String(line))
                metrics[outcome.rawValue, default: 0] += count.flatMap { Int($0.output.1) } ?? 0
            }
        }
    }
}
