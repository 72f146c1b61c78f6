import KafkaModel
import Logging
import NewsModel
import NotificationHub
import PublishEngine

/// Logs one shard's outcomes. Remembers what it has logged, so that a lasting state produces one line.
struct ShardLog {
    private let log: Logger
    private let lanes: [String]
    private var reportedHalts: [Halt.Reason] = []
    private var reportedClock: ClockWitnesses.Finding.Witness?
    private var hasReportedWait = false
    /// The code of the last failed commit.
    private var commitFailure: String?
    /// The number of originals that the held topic has refused.
    private var heldRefusals = 0
    /// The number of refusals at which the next line is logged.
    private var nextHeldRefusals = 1

    init(_ log: Logger, lanes: [String]) {
        self.log = log
        self.lanes = lanes
    }

    func settled(_ request: StoreRequest) {
        log.debug(
            "delivery settled",
            metadata: [
                "outcome": "\(request.result.outcome.rawValue)", "event": "\(request.result.eventID ?? "")",
                "platform": "\(request.result.platform.rawValue)", "lane": "\(request.result.lane)",
                "source": "\(request.result.source)",
                "attempts": "\(request.result.attempts)", "code": "\(request.result.error?.code ?? "")",
            ])
    }

    mutating func happened(_ event: KafkaEvent) {
        switch event {
        case .assigned(let lane, _, let partitions):
            log.info("partitions assigned", metadata: ["lane": name(lane), "partitions": "\(partitions.count)"])
        case .revoked(let lane, _, _, let lost):
            log.info("partitions revoked", metadata: ["lane": name(lane), "lost": "\(lost)"])
        case .restarted(let lane, _, let partition, _):
            log.warning(
                "a topic was created again, or cut back: records already read are finished, then it is read from its start",
                metadata: ["lane": name(lane), "partition": "\(partition)"])
        case .committed(let lane, _, _, let failure):
            if let failure, failure.code != commitFailure {
                log.warning("commit failed", metadata: ["lane": name(lane), "failure": "\(failure)"])
            }
            commitFailure = failure?.code
        case .restored(let lane, _, let results, _, let end?):
            if end.basis == .newest, end.start > 0 {
                log.warning(
                    "no ledger offset is committed; only the newest results are read",
                    metadata: ["lane": name(lane), "results": "\(results)"])
            }
            if end.isCut {
                log.warning(
                    "results that the ledger still needs were deleted: events without a committed result may be sent again",
                    metadata: [
                        "lane": name(lane), "results": "\(results)",
                        "remedy": "raise retention.ms of the results topic",
                    ])
            }
        case .tooLargeToHold(let deliveries): refusedToHold(deliveries.count)
        case .restored, .records, .endReached, .stored, .restoreFailed, .partitionCounts: break
        }
    }

    /// Logs the first refusal, and then each time their number has grown tenfold.
    private mutating func refusedToHold(_ count: Int) {
        heldRefusals += count
        guard heldRefusals >= nextHeldRefusals else { return }
        while nextHeldRefusals <= heldRefusals { nextHeldRefusals *= 10 }
        log.warning(
            "the held topic refuses events as too large: they wait in memory",
            metadata: [
                "events": "\(heldRefusals)", "remedy": "raise max.message.bytes of the held topic",
            ])
    }

    mutating func halts(in status: EngineStatus) {
        let halts = ([status.halt] + status.lanes.map(\.flood)).compactMap(\.self)
        for halt in halts where !reportedHalts.contains(halt.reason) {
            log.error(
                "sending halted",
                metadata: [
                    "reason": "\(halt.reason.rawValue)", "detail": "\(halt.detail)", "remedy": "\(halt.remedy)",
                ])
        }
        if halts.isEmpty, !reportedHalts.isEmpty { log.notice("sending again") }
        reportedHalts = halts.map(\.reason)
    }

    /// Logs what contradicts our clock, and that events wait for the hub's time.
    mutating func clock(in status: EngineStatus, at now: Instant) {
        if let finding = status.clock, finding.witness != reportedClock {
            log.warning("the clock may be wrong", metadata: ["detail": "\(finding.text)"])
        }
        reportedClock = status.clock?.witness
        let wait = status.waits.first { $0.reason == .time && now - $0.since > ServiceMetrics.normalWait }
        if let wait, !hasReportedWait {
            log.warning(
                "events wait for the hub's time", metadata: ["detail": "\(wait.detail)", "remedy": "\(wait.remedy)"])
        }
        hasReportedWait = wait != nil
    }

    func clockStepped(by step: Duration) {
        log.warning("the clock was set", metadata: ["seconds": "\(Double(step.nanoseconds) / 1e9)"])
    }

    func stoodStill(for duration: Duration) {
        log.warning(
            "the process stood still; nothing is sent until orders and partitions are confirmed",
            metadata: ["seconds": "\(Double(duration.nanoseconds) / 1e9)"])
    }

    private func name(_ lane: LaneID) -> Logger.MetadataValue { "\(lanes[lane.index])" }
}
