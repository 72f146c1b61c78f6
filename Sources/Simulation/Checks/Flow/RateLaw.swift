import KafkaModel
import NewsModel
import PublishEngine

/// G6: in every window of length t, all processes together send at most rate · t + burst requests.
///
/// A leaky bucket expresses the same: its level is the largest excess over the rate among all windows that end now. While a
/// partition has two owners, because one has not noticed its loss, its share counts twice. While a topic grows, a process that does
/// not know its new length takes a larger share of it.
struct RateLaw: Checker {
    let promise = Promise.rateLaw
    /// Number of requests times 10⁹, so that rate · nanoseconds needs no rounding.
    private var level: Int64 = 0
    private var at = Scenario.start
    private var owners: [TopicPartition: Int] = [:]
    /// The lengths of topics that each process knows.
    private var lengths: [Address: [String: Int]] = [:]
    /// The largest number of processes that hold the same share.
    private var holders: Int64 { Int64(max(owners.values.max() ?? 1, 1)) + (Set(lengths.values).count > 1 ? 1 : 0) }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard let rate = truth.scenario.setting.engine.rate else { return nil }
        leak(to: truth.now, rate: rate.perSecond)
        let burst = Int64(rate.burst) * 1_000_000_000
        switch fact {
        case .began(let ownership):
            owners[truth.ownerships[ownership].partition, default: 0] += 1
        case .ended(let ownership):
            change(burst) { $0.owners[truth.ownerships[ownership].partition, default: 1] -= 1 }
        case .input(let address, .kafka(.partitionCounts(let counts, readIn: _))):
            change(burst) { $0.lengths[address] = counts }
        case .died(let address): change(burst) { $0.lengths[address] = nil }
        case .sent(_, _, _):
            level += 1_000_000_000
            guard level > burst * holders else { return nil }
            return "\(level / 1_000_000_000) requests beyond \(rate.perSecond) a second; \(rate.burst) are allowed"
        default: break
        }
        return nil
    }

    /// Applies a change after which fewer processes may hold the same share.
    private mutating func change(_ burst: Int64, _ body: (inout RateLaw) -> Void) {
        let before = holders
        body(&self)
        level = max(0, level - max(before - holders, 0) * burst)
    }

    private mutating func leak(to now: Instant, rate: Int) {
        let elapsed = min((now - at).nanoseconds, 1_000_000_000_000)
        level = max(0, level - elapsed * Int64(rate) * holders)
        at = now
    }
}
