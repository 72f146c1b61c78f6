import KafkaModel
import NewsModel
import Testing

@testable import PublishEngine
@testable import PublisherService

private let start = Instant(nanoseconds: 1_795_222_923_000_000_000)

/// The report of a shard that has buffered one record for two minutes without progress.
private func report(
    buffered: Int = 1, waits: [Wait.Reason: Duration] = [:], progress: Duration = .seconds(120),
    silence: Duration = .zero
) -> ShardReport {
    let lane = EngineStatus.LaneStatus(
        partitions: 1, buffered: buffered, bufferedBytes: 100, ready: 1, delayed: 0, isPaused: false, flood: nil)
    let waits = waits.map { Wait(lane: LaneID(0), reason: $0, since: start - $1, detail: "", remedy: "") }
    return ShardReport(
        at: start - silence, tally: Tally(lanes: 1, categories: 0), recent: RecentResults(),
        status: EngineStatus(halt: nil, inFlight: 1, concurrencyLimit: 8, lanes: [lane], waits: waits),
        limiter: .nothing, limitedFor: [], tokens: nil, wire: HubWire(), oldestBuffered: [nil],
        progressAt: start - progress)
}

private func isStuck(_ report: ShardReport, error: Duration? = nil, waiting: Duration? = nil) -> Bool {
    Health(normalWait: .seconds(60)).stuck(
        [(0, report)], errorAt: error.map { start - $0 }, waitingSince: waiting.map { start - $0 }, at: start)
        != nil
}

struct HealthTests {
    @Test
    func `records that wait without progress and without a reason mean a stuck pipeline`() {
        #expect(isStuck(report()))
        #expect(isStuck(report(progress: .seconds(61))))
        for reason in [Wait.Reason.concurrency, .reply, .results, .deadLetters] {
            #expect(isStuck(report(waits: [reason: .seconds(90)])), "\(reason) does not explain such a long wait")
        }
        #expect(isStuck(report(waits: [.retry: .seconds(1), .reply: .seconds(90)])), "a reply that is long overdue")
    }

    @Test
    func `a pipeline with a known reason, a normal wait or no records is not stuck`() {
        #expect(!isStuck(report(progress: .seconds(59))))
        #expect(!isStuck(report(buffered: 0)))
        for reason in [Wait.Reason.halt, .flood, .hubPause, .rate, .paused, .retry, .embargo, .ledger, .commit] {
            #expect(!isStuck(report(waits: [reason: .seconds(90)])), "\(reason)")
        }
        #expect(!isStuck(report(waits: [.retry: .seconds(1), .reply: .seconds(10)])))
    }

    @Test
    func `a Kafka error explains a wait until the next progress`() {
        #expect(!isStuck(report(), error: .seconds(100)))
        #expect(isStuck(report(), error: .seconds(130)))
    }

    @Test
    func `unread records on the topics mean a stuck pipeline, unless another shard reads`() {
        #expect(isStuck(report(buffered: 0), waiting: .seconds(90)))
        #expect(!isStuck(report(buffered: 0), waiting: .seconds(30)))
        let busy = report(buffered: 0, progress: .zero)
        let health = Health(normalWait: .seconds(60))
        let reports = [(0, report(buffered: 0)), (1, busy)]
        #expect(health.stuck(reports, errorAt: nil, waitingSince: start - .seconds(90), at: start) == nil)
    }

    @Test
    func `a loop without reports is blocked`() {
        #expect(isStuck(report(buffered: 0, silence: .seconds(31))))
        #expect(!isStuck(report(buffered: 0, silence: .seconds(29))))
    }
}
