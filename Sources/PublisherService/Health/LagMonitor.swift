import Dispatch
import Foundation
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import PublishEngine
import Synchronization

/// Measures every few seconds how far the lanes are behind, on a thread that may block. Logs summaries, and the reasons
/// why the service is not ready.
final class LagMonitor: Sendable {
    private static let interval = Duration.seconds(5)
    private static let timeout = Duration.seconds(3)
    /// The shortest time between two summaries.
    private static let summaryInterval = Duration.seconds(60)
    /// Time between two checks of the topics' settings, which people change rarely.
    private static let topicInterval = Duration.seconds(60)

    private let settings: PublisherSettings
    private let metrics: ServiceMetrics
    private let log: Logger
    /// Offsets to be committed by this or other group members; `nil` unless the run ends with them.
    private let catchUp: CatchUp?
    private let onCaughtUp: @Sendable () -> Void
    /// The findings about the topics at the start.
    private let topicFindings: [TopicRules.Finding]
    private let stopped = DispatchSemaphore(value: 0)

    init(
        settings: PublisherSettings, topicFindings: [TopicRules.Finding], metrics: ServiceMetrics, log: Logger,
        catchUp: CatchUp?, onCaughtUp: @escaping @Sendable () -> Void
    ) {
        self.settings = settings
        self.metrics = metrics
        self.log = log
        self.catchUp = catchUp
        self.onCaughtUp = onCaughtUp
        self.topicFindings = topicFindings
    }

    func start() { Thread.start("lag-monitor") { self.run() } }

    /// Stops the monitor. Returns at once; a measurement in progress ends at its own time limit.
    func stop() { stopped.signal() }

    private func run() {
        // The short time limit keeps an unresponsive broker from delaying the other lanes.
        var admin: KafkaAdmin?
        var stable = StableEnds(settings: settings.kafka, timeout: Self.timeout)
        var unmeasured: [LaneID: Set<TopicPartition>] = [:]
        var summary = Summary(at: metrics.clock.now.wall)
        var reasons = ReadinessLog()
        var topics = TopicLog(rules: settings.topicRules, known: topicFindings)
        var checksTopicsAt = ContinuousClock.now + Self.topicInterval
        repeat {
            if admin == nil { admin = try? KafkaAdmin(settings: settings.kafka, timeout: Self.timeout) }
            if let admin {
                measure(admin, &stable, &unmeasured)
                if let catchUp { checkCommits(catchUp, admin) }
                if checksTopicsAt <= .now {
                    topics.check(admin, log)
                    checksTopicsAt = .now + Self.topicInterval
                }
            }
            let status = metrics.status
            metrics.remember(status)
            reasons.log(status.notReady, to: log)
            summary.log(status, every: Self.summaryInterval, to: log)
        } while stopped.wait(timeout: .now() + .nanoseconds(Int(Self.interval.nanoseconds))) == .timedOut
    }

    /// Checks the partitions for which other members commit, because only the broker knows their offsets.
    private func checkCommits(_ catchUp: CatchUp, _ admin: KafkaAdmin) {
        for (index, lane) in settings.engine.lanes.enumerated() {
            let open = catchUp.open.filter { lane.topics.contains($0.topic) }
            guard !open.isEmpty,
                let committed = try? admin.committed(
                    group: settings.kafka.consumerGroup(lane: index, named: lane.name), open)
            else { continue }
            if catchUp.committed(committed.map { PartitionOffset($0.key, $0.value) }) { onCaughtUp() }
            for partition in catchUp.open where lane.topics.contains(partition.topic) {
                do throws(KafkaFailure) {
                    if catchUp.found(partition, kept: try admin.watermarks(partition)) { onCaughtUp() }
                } catch {
                    if error.isMissingPartition, catchUp.found(partition, kept: nil) { onCaughtUp() }
                }
            }
        }
    }

    /// - Parameter unmeasured: the partitions that the last query did not reach.
    private func measure(
        _ admin: KafkaAdmin, _ stable: inout StableEnds, _ unmeasured: inout [LaneID: Set<TopicPartition>]
    ) {
        for (index, lane) in settings.engine.lanes.enumerated() {
            do throws(KafkaFailure) {
                let unknown = metrics.positions(lane: LaneID(index)).filter { $0.committed == nil }.map(\.partition)
                if !unknown.isEmpty {
                    // The query needs a client of its own, so it is made once per assignment and not every time.
                    let stored = try admin.committed(
                        group: settings.kafka.consumerGroup(lane: index, named: lane.name), unknown)
                    metrics.found(stored, of: unknown)
                }
                measure(LaneID(index), named: lane.name, admin, &stable, &unmeasured[LaneID(index), default: []])
            } catch {
                log.debug("lag unknown", metadata: ["lane": "\(lane.name)", "failure": "\(error)"])
            }
        }
    }

    /// Measures the partitions of a lane. Those that failed the last time come last, so that one without a leader, whose query takes
    /// `timeout`, does not hide the others.
    private func measure(
        _ lane: LaneID, named name: String, _ admin: KafkaAdmin, _ stable: inout StableEnds,
        _ unmeasured: inout Set<TopicPartition>
    ) {
        let positions = metrics.positions(lane: lane)
        let deadline = ContinuousClock.now + Self.interval
        var measurements: [Lag.Measurement] = []
        var left = Set(positions.map(\.partition))
        let known = positions.filter { !unmeasured.contains($0.partition) }
        for (partition, committed) in known + positions.filter({ unmeasured.contains($0.partition) }) {
            guard ContinuousClock.now < deadline else { break }
            do throws(KafkaFailure) {
                let kept = try admin.watermarks(partition)
                var measured = Lag.Measurement(
                    partition: partition, committed: max(committed ?? 0, kept.lowerBound), end: kept.upperBound)
                // The stable end is queried after the committed offsets, so that later commits count as readable.
                if measured.committed < measured.end { measured.stable = try stable.end(of: partition) }
                measurements.append(measured)
                left.remove(partition)
            } catch {
                log.debug(
                    "lag unknown",
                    metadata: ["lane": "\(name)", "partition": "\(partition)", "failure": "\(error)"])
            }
        }
        unmeasured = left
        metrics.measured(lane: lane, measurements, unmeasured: left)
    }
}

/// The last stable offsets of partitions on which a lane is behind. The client is created on first use.
private struct StableEnds {
    let settings: KafkaSettings
    let timeout: Duration
    private var admin: KafkaAdmin?

    init(settings: KafkaSettings, timeout: Duration) {
        self.settings = settings
        self.timeout = timeout
    }

    mutating func end(of partition: TopicPartition) throws(KafkaFailure) -> Int64? {
        if admin == nil { admin = try KafkaAdmin(settings: settings, timeout: timeout, end: .lastStable) }
        return try admin?.watermarks(partition).upperBound
    }
}

/// Logs what someone has changed about the topics' settings since the start: a topic of results that is compacted now loses
/// what the ledger needs at the next start. Topics that are missing or have too few partitions are reasons of `/readyz`.
struct TopicLog {
    let rules: TopicRules
    var known: [TopicRules.Finding]

    mutating func check(_ admin: KafkaAdmin, _ log: Logger) {
        guard let states = try? admin.states(of: rules.topics.map(\.name)) else { return }
        for finding in changes(states) {
            log.log(
                level: finding.severity == .warning ? .warning : .error, "a topic has changed",
                metadata: ["warning": "\(finding)"])
        }
    }

    /// The findings that were not known when the broker last described their topics.
    mutating func changes(_ states: [String: TopicState]) -> [TopicRules.Finding] {
        let findings = rules.findings(states)
        let unseen = findings.filter { [.missing, .unreadable].contains($0.problem) }
        let found = findings.filter { !unseen.contains($0) }
        let topics = Set(unseen.map(\.topic))
        defer { known = found + known.filter { topics.contains($0.topic) && !found.contains($0) } }
        return found.filter { !known.contains($0) }
    }
}

/// Logs the start and the end of each reason for not being ready, if it lasts longer than one measurement.
private struct ReadinessLog {
    private var seen: [ReadinessReason] = []
    private var logged: [ReadinessReason] = []

    mutating func log(_ reasons: [ReadinessReason], to log: Logger) {
        for reason in reasons where seen.contains(where: reason.isSame) && !logged.contains(where: reason.isSame) {
            log.warning("not ready", metadata: ["reason": "\(reason.code)", "detail": "\(reason.detail)"])
            logged.append(reason)
        }
        for reason in logged where !reasons.contains(where: reason.isSame) {
            log.notice("ready again as to this", metadata: ["reason": "\(reason.code)"])
        }
        logged.removeAll { known in !reasons.contains(where: known.isSame) }
        seen = reasons
    }
}

extension ReadinessReason {
    /// True for the same reason and lane, even if the sentence has changed.
    fileprivate func isSame(_ other: ReadinessReason) -> Bool { code == other.code && lane == other.lane }
}

/// The results since the last summary.
private struct Summary {
    private var at: Instant
    private var counts = [UInt64](repeating: 0, count: Outcome.allCases.count)

    init(at now: Instant) { at = now }

    mutating func log(_ status: ServiceStatus, every interval: Duration, to log: Logger) {
        guard status.at - at >= interval else { return }
        let now = Outcome.allCases.map { outcome in status.tally.lanes.reduce(0) { $0 + $1.outcomes[outcome] } }
        var metadata: Logger.Metadata = [:]
        for (index, outcome) in Outcome.allCases.enumerated() where now[index] > counts[index] {
            metadata[outcome.rawValue] = .stringConvertible(Int(clamping: now[index] - counts[index]))
        }
        guard !metadata.isEmpty else { return }
        metadata["seconds"] = .stringConvertible(Int((status.at - at).components.seconds))
        metadata["lag"] = .stringConvertible(Int(clamping: status.lanes.reduce(0) { $0 + ($1.lag ?? 0) }))
        log.info("settled", metadata: metadata)
        at = status.at
        counts = now
    }
}
