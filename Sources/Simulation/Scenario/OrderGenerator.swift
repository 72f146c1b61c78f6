import ByteText
import EditorialControl
import PublishEngine

/// Draws the orders of a life: recalls of recent stories, stops of every kind, and simultaneous orders of two editors.
struct OrderGenerator {
    let setting: Setting
    let news: [NewsItem]
    let seconds: Int
    private var random: SeededRandom

    /// Draws the orders, sorted by time.
    static func draw(
        _ setting: Setting, _ news: [NewsItem], seconds: Int, _ options: Options, _ random: SeededRandom
    ) -> [EditorOrder] {
        var generator = OrderGenerator(setting: setting, news: news, seconds: seconds, random: random)
        guard setting.hasControl, generator.random.chance(percent: options.orders) else { return [] }
        var orders: [EditorOrder] = []
        for _ in 0..<generator.random.number(1...4) { orders.append(generator.order(number: orders.count)) }
        if generator.random.chance(percent: 25), let twin = orders.last {
            // Another editor gives the same order.
            orders.append(generator.another(of: twin, number: orders.count))
        }
        return orders.sorted { $0.at < $1.at }
    }

    private mutating func order(number: Int) -> EditorOrder {
        if random.chance(percent: 50), let item = news.randomElement(using: &random) {
            // Recalls matter most while deliveries of their story are in flight.
            let at = item.at + random.milliseconds(0...3_000)
            let order = EditorOrder(number: number, scope: .recall(story: item.story), at: at)
            return lasting(order, isForever: random.chance(percent: 50))
        }
        return lasting(
            EditorOrder(number: number, scope: .stop(gate()), at: random.milliseconds(0...(seconds * 1000))),
            isForever: false)
    }

    private mutating func lasting(_ order: EditorOrder, isForever: Bool) -> EditorOrder {
        var order = order
        if !isForever { order.lasts = random.milliseconds(0...20_000) }
        if order.scope.isRecall, random.chance(percent: 15) { order.lapsesAfter = random.milliseconds(2_000...20_000) }
        return order
    }

    private mutating func another(of twin: EditorOrder, number: Int) -> EditorOrder {
        let at = twin.at + random.milliseconds(0...2_000)
        return lasting(EditorOrder(number: number, scope: twin.scope, at: at), isForever: twin.lasts == nil)
    }

    private mutating func gate() -> Gate {
        switch random.number(0...9) {
        case ..<3: .hub
        case ..<6: .lane(setting.lanes[random.number(0...(setting.lanes.count - 1))].name)
        case ..<7: .category(random.pick(["World", "politics", "BUSINESS"], or: "World"))
        case 7: .interest(random.pick(["team:1", "TEAM:3", "team:40"], or: "team:1"))
        case 8: .feed(random.pick(Newsroom.feeds, or: ""))
        default: .run(random.pick(Newsroom.runs, or: ""))
        }
    }
}
