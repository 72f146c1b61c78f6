public import NewsModel
import PublishEngine

/// The script of one life: a stage, what happens in the newsroom, and what goes wrong. Together with the seed, from
/// which every small delay is drawn, it says all that will ever happen.
public struct Life: Sendable {
    public let seed: UInt64
    public let setting: Setting
    public let options: Options
    public var news: [NewsItem]
    public var faults: [Fault]

    /// When it begins.
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
        faults = Mischief.draw(setting, seconds: seconds, options, SeededRandom(seed: seed, 3))
    }

    /// When the last fault is over and the last record is written.
    var calmAt: Instant {
        Self.start + max(faults.map(\.end).max() ?? .zero, news.last?.at ?? .zero)
    }
}
