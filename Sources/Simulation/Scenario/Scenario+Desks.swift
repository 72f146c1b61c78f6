import ByteText
import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// A category that has another name from some time on. The former name stays as an alias.
public struct CategoryRename: Sendable, Hashable {
    /// Time since the start of the life.
    public var at: Duration
    public var former: String
    public var name: String { former + " today" }

    /// Returns true if both are names of the same category.
    func isSame(_ name: String, _ other: String) -> Bool { first(name) == first(other) }

    private func first(_ name: String) -> String {
        let folded = name.lowercased()
        return folded == self.name.lowercased() ? former.lowercased() : folded
    }

    /// The standard categories after the change.
    var table: CategoryTable? {
        try? CategoryTable(
            CategoryTable.standard.categories.map { category in
                guard category.name == former else { return category }
                return .init(
                    name: name, tag: category.tag, names: [former] + category.names, subjects: category.subjects)
            })
    }
}

/// Recalls with replacements, renamed categories, and renewed recalls. Drawn apart from the rest, so that a life without them stays as it was.
extension Scenario {
    mutating func addDesks(_ seed: UInt64) {
        guard setting.hasControl else { return }
        var random = SeededRandom(seed: seed, 9)
        let hasReplacements = random.chance(percent: options.replacements)
        let hasRename = random.chance(percent: options.renames)
        // In template mode a replacement needs a template of its own to be quiet.
        if hasReplacements, setting.engine.platforms != [.template] {
            for _ in 0..<random.number(1...3) { addReplacement(&random) }
        }
        if hasRename, setting.quiet == nil { addRename(&random) }
        orders.sort { $0.at < $1.at }
    }

    private mutating func addReplacement(_ random: inout SeededRandom) {
        // What was for single readers is replaced from its original, which the simulation's desks do not read.
        let personal = Set(news.filter(\.isPersonal).map(\.story))
        let candidates = news.indices.filter {
            news[$0].kind == .usable && !news[$0].isRedriven && !personal.contains(news[$0].story)
        }
        guard let index = candidates.randomElement(using: &random) else { return }
        // One platform refuses it, so that the story's platforms differ.
        if random.chance(percent: 60) { news[index].refusedBy = setting.engine.platforms.randomElement(using: &random) }
        let scope = ControlScope.recall(story: news[index].story)
        var at = news[index].at + random.milliseconds(100...8_000)
        // Some desks recall the story at the same time, or soon after the first.
        for _ in 0..<(random.chance(percent: 50) ? 2 : 1) {
            var order = EditorOrder(number: orders.count, scope: scope, at: at)
            order.replaces = true
            if random.chance(percent: 40) { order.lasts = random.milliseconds(500...15_000) }
            orders.append(order)
            at = at + random.milliseconds(0...3_000)
        }
    }

    /// Adds an order for some recalls that lapse: an editor gives them again when their records are removed.
    mutating func addRenewals(_ seed: UInt64) {
        var random = SeededRandom(seed: seed, 10)
        for order in orders {
            guard let lapsesAfter = order.lapsesAfter, random.chance(percent: options.renewals) else { continue }
            var renewal = EditorOrder(number: orders.count, scope: order.scope, at: order.at + lapsesAfter)
            renewal.renews = order.id
            orders.append(renewal)
        }
        orders.sort { $0.at < $1.at }
    }

    private mutating func addRename(_ random: inout SeededRandom) {
        let former = random.pick(["World", "Politics", "Business", "Sports"], or: "World")
        let seconds = Int((news.last?.at ?? .zero).components.seconds)
        let at = random.milliseconds(0...(max(seconds, 1) * 1_000))
        let rename = CategoryRename(at: at, former: former)
        // It is stopped by its former name before it gets another one, or by the new one soon after.
        let isStoppedBefore = random.chance(percent: 60)
        let earlier = random.milliseconds(0...5_000)
        var order = EditorOrder(
            number: orders.count, scope: .stop(.category(isStoppedBefore ? former : rename.name)),
            at: isStoppedBefore ? max(at - earlier, .zero) : at + .seconds(1) + earlier)
        order.lasts = random.milliseconds(6_000...20_000)
        orders.append(order)
        setting.rename = rename
        for index in news.indices where news[index].at >= at + .seconds(2) && random.chance(percent: 50) {
            news[index].rename(rename)
        }
    }
}

extension NewsItem {
    /// Names the category by its new name.
    fileprivate mutating func rename(_ rename: CategoryRename) {
        guard kind == .usable, copy == nil, categories == [rename.former],
            var event = try? NewsDecoder().decode(record)
        else { return }
        event.categories = [rename.name]
        categories = event.categories
        var value: [UInt8] = []
        event.encode(into: &value)
        record.value = value
    }
}
