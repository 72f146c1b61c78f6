import ByteText
import KafkaModel
public import NewsModel
import PublishEngine

/// The script of one life: its setting, news, faults and orders. Together with the seed, from which all delays are drawn, it
/// determines the whole life.
public struct Scenario: Sendable {
    public let seed: UInt64
    public internal(set) var setting: Setting
    public let options: Options
    public var news: [NewsItem]
    public var faults: [Fault]
    public var orders: [EditorOrder]

    /// The start of a life by the true clock.
    public static let start = Instant(milliseconds: 1_760_000_000_000)

    public init(seed: UInt64, options: Options = Options()) {
        self.seed = seed
        self.options = options
        var random = SeededRandom(seed: seed, 1)
        setting = Setting.draw(&random, options)
        let seconds = random.number(options.seconds)
        var newsroom = Newsroom(
            setting: setting, start: Self.start, seconds: seconds, random: SeededRandom(seed: seed, 2))
        news = newsroom.write(random.number(options.records))
        faults = FaultGenerator.draw(setting, seconds: seconds, options, SeededRandom(seed: seed, 3))
        orders = OrderGenerator.draw(setting, news, seconds: seconds, options, SeededRandom(seed: seed, 8))
        addDesks(seed)
        addRenewals(seed)
    }

    /// Time at which the last fault has ended and the last record is written.
    var calmAt: Instant {
        Self.start
            + max(
                faults.map(\.end).max() ?? .zero, news.last?.at ?? .zero, orders.map(\.end).max() ?? .zero,
                setting.rename?.at ?? .zero)
    }

    /// The most urgent lane, if all faults affect other lanes only, so that nothing may delay its news.
    var sparedLane: LaneID? {
        guard setting.lanes.count > 1, !faults.isEmpty, setting.quiet == nil else { return nil }
        guard orders.allSatisfy({ $0.scope.isRecall || $0.scope.lane(in: setting) ?? .mostUrgent > .mostUrgent }) else {
            return nil
        }
        return faults.allSatisfy { $0.kind.lane(in: setting) ?? .mostUrgent > .mostUrgent } ? .mostUrgent : nil
    }
}
