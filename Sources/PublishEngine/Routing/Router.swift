public import NewsModel
import NotificationHub

/// Decides which tags an event goes to.
///
/// Names come first; subjects count only if no name is known. A category is an editor's decision, while subjects only
/// describe the item. Their union would alert more readers than the editor chose. Unknown names beside a known one are
/// ignored.
///
/// An object, because every event uses it, and copying its tables' references would cost more than routing.
public final class Router: Sendable {
    public let table: CategoryTable
    public let audience: Audience
    private let fallback: Routing.Tagged?
    /// The routing to each single category, by its name and by each known topic. Made once, because nearly every event
    /// has one of them.
    private let singles: [Routing.Tagged]
    private let bySubject: [String: Routing.Tagged]
    /// One router for each language, if languages have tags.
    private let editions: Editions?

    /// A category of an event, and the reason. `single` is the routing of this category alone, if known.
    private typealias Found = (index: Int, reason: String, single: Routing.Tagged?)

    /// - Parameter localization: used only if languages have tags.
    /// - Throws: every problem of `problems(table:unroutable:)`, and of the languages' tags.
    public convenience init(
        table: CategoryTable = .standard, unroutable: UnroutablePolicy = .deadLetter, audience: Audience = Audience(),
        localization: Localization? = nil
    ) throws(PayloadProblems) {
        let problems =
            Self.problems(table: table, unroutable: unroutable)
            + (localization?.tagProblems(categories: table.categories) ?? [])
        guard problems.isEmpty else { throw PayloadProblems(problems) }
        var editions: Editions?
        if let localization, localization.mode != .properties {
            editions = try Editions(localization) { readers throws(PayloadProblems) in
                var audience = audience
                audience.readers = readers
                return Router(table, unroutable, audience, editions: nil)
            }
        }
        self.init(table, unroutable, audience, editions: editions)
    }

    private init(_ table: CategoryTable, _ unroutable: UnroutablePolicy, _ audience: Audience, editions: Editions?) {
        self.table = table
        self.editions = editions
        self.audience = audience
        func single(_ index: Int, _ reason: String) -> Routing.Tagged {
            Self.tagged([(index, reason)], table, audience, tagsMax: audience.tagsMax)
        }
        singles = table.categories.indices.map { single($0, Self.byName) }
        var bySubject: [String: Routing.Tagged] = [:]
        for code in table.knownTopics {
            let subject = MediaTopics.text(code)
            let (found, topic) = table.indices(ofSubject: subject)
            if let topic, let index = found.first, found.count == 1 {
                bySubject[subject] = single(index, Self.reason(subject, topic))
            }
        }
        self.bySubject = bySubject
        switch unroutable {
        case .deadLetter: fallback = nil
        case .category(let name):
            fallback = table.index(named: name).map {
                single($0, "no category of its own, and unroutable names this one")
            }
        }
    }

    private static let byName = "category name"

    private static func reason(_ subject: String, _ topic: UInt32) -> String {
        let broader = MediaTopics.text(topic)
        return subject == broader ? "subject \(subject)" : "subject \(TextCut.excerpt(subject)) under \(broader)"
    }

    /// Problems of the policy: it must name an existing category.
    public static func problems(table: CategoryTable, unroutable: UnroutablePolicy) -> [PayloadProblem] {
        guard case .category(let name) = unroutable, table.index(named: name) == nil else { return [] }
        let known = table.categories.prefix(20).map(\.name).joined(separator: ", ")
        return [
            PayloadProblem(
                path: ["unroutable"], message: "'\(TextCut.excerpt(name))' is not a category",
                remedy: "write deadLetter or one of \(known)")
        ]
    }

    /// The codes of the languages that are sent separately; empty if one send is for all.
    var editionCodes: [String] { editions?.codes ?? [] }

    /// The code of the event's language, also if the event has no category; `nil` if languages have no tags.
    func edition(of event: NewsEvent) -> String? { editions?.code(of: event) }

    /// - Parameter isForEverybody: without a language, the event is for the readers of all languages.
    public func route(_ event: NewsEvent, isForEverybody: Bool = false) -> Routing {
        if let editions {
            return isForEverybody && event.language == nil ? editions.everybody.route(event) : editions.route(event)
        }
        return event.isTest ? routeTest(event) : route(toReadersOf: event, tagsMax: audience.tagsMax)
    }

    /// - Parameter tagsMax: the maximum number of category tags.
    private func route(toReadersOf event: NewsEvent, tagsMax: Int) -> Routing {
        guard event.users.isEmpty else { return routeToUsers(event) }
        return event.interests.isEmpty
            ? route(byCategoriesOf: event, tagsMax: tagsMax) : routeToFollowers(event, tagsMax: tagsMax)
    }

    /// Routes an event by its categories.
    ///
    /// - Parameter tagsMax: the maximum number of category tags.
    func route(byCategoriesOf event: NewsEvent, tagsMax: Int) -> Routing {
        if event.categories.count == 1, let name = event.categories.first, let index = table.index(named: name) {
            return .tagged(singles[index])
        }
        let found = categories(of: event)
        guard let first = found.first else { return fallback.map(Routing.tagged) ?? .unroutable(failure(of: event)) }
        if let single = first.single, found.allSatisfy({ $0.index == first.index }) { return .tagged(single) }
        return .tagged(several(found, tagsMax: tagsMax))
    }

    private func categories(of event: NewsEvent) -> [Found] {
        let found: [Found] = event.categories.compactMap { name in
            table.index(named: name).map { ($0, Self.byName, singles[$0]) }
        }
        return found.isEmpty ? event.subjects.flatMap(find) : found
    }

    private func find(subject: String) -> [Found] {
        if let single = bySubject[subject], let reason = single.reasons.first,
            let index = table.index(named: reason.category)
        {
            return [(index, reason.because, single)]
        }
        let (found, topic) = table.indices(ofSubject: subject)
        return topic.map { topic in found.map { ($0, Self.reason(subject, topic), nil) } } ?? []
    }

    /// Routes a test like real news, but only to the testers among those readers. If not all tags fit, it goes to all
    /// testers.
    private func routeTest(_ event: NewsEvent) -> Routing {
        let tagsMax = audience.testTag == nil ? audience.tagsMax : .max
        // Single readers have no tags here, so their news is tested on all testers.
        let real = route(toReadersOf: event, tagsMax: tagsMax)
        guard let testTag = audience.testTag, case .tagged(let routing) = real else { return real }
        return .tagged(
            Routing.Tagged(
                categories: routing.categories, tags: [testTag],
                expression: audience.testExpression(routing.tags, isQuiet: false),
                quietExpression: audience.testExpression(routing.tags, isQuiet: true), label: routing.label,
                reasons: routing.reasons, interests: routing.interests,
                unknownInterests: routing.unknownInterests, edition: routing.edition))
    }

    /// Routes an event to single readers only. Its categories, if any, serve the text, quiet hours and stops, and its
    /// interests serve stops. They add no readers, nor does `unroutable`.
    private func routeToUsers(_ event: NewsEvent) -> Routing {
        let found = categories(of: event)
        let about = found.isEmpty ? nil : several(found, tagsMax: .max)
        var tags: [Tag] = []
        var pseudonyms: [String] = []
        for user in event.users {
            guard let tag = try? audience.users.tag(of: user) else { continue }
            guard !tags.contains(tag) else { continue }
            tags.append(tag)
            pseudonyms.append(audience.users.pseudonym(of: user))
        }
        let interests = event.interests.isEmpty ? nil : audience.interests.find(event.interests)
        return .tagged(sends(to: tags.map(\.text)[...], tags: [], users: pseudonyms, about, interests))
    }

    /// The send to the devices that have one of the first of these tags, and those to the rest. A device with tags of
    /// different sends gets each of these.
    ///
    /// - Parameter tags: the tags that results name.
    func sends(
        to texts: ArraySlice<String>, tags: [String], users: [String] = [], _ about: Routing.Tagged?,
        _ interests: InterestTable.Found?
    ) -> Routing.Tagged {
        let first = Array(texts.prefix(audience.tagsMax))
        let rest = texts.dropFirst(audience.tagsMax)
        return Routing.Tagged(
            categories: about?.categories ?? [], tags: tags, expression: audience.expression(first, isQuiet: false),
            quietExpression: audience.expression(first, isQuiet: true), label: about?.label ?? "",
            leftOut: about?.leftOut ?? [], reasons: about?.reasons ?? [], users: users,
            interests: interests?.names ?? [], unknownInterests: interests?.unknown ?? [],
            edition: audience.readers?.edition,
            rest: rest.isEmpty ? nil : sends(to: rest, tags: tags, users: users, about, interests))
    }

    /// - Parameter found: the categories found; the first reason of each one counts.
    private func several(_ found: [Found], tagsMax: Int) -> Routing.Tagged {
        var reasons = [String?](repeating: nil, count: table.categories.count)
        for (index, reason, _) in found where reasons[index] == nil { reasons[index] = reason }
        return Self.tagged(
            reasons.enumerated().compactMap { index, reason in reason.map { (index, $0) } }, table, audience,
            tagsMax: tagsMax)
    }

    /// Takes categories in the table's order until the limit of tags is reached.
    private static func tagged(
        _ found: [(index: Int, reason: String)], _ table: CategoryTable, _ audience: Audience, tagsMax: Int
    ) -> Routing.Tagged {
        var tags: [String] = []
        var reasons: [ResultRecord.Reason] = []
        var leftOut: [String] = []
        for (index, reason) in found {
            let category = table.categories[index]
            let new = (audience.readers?.tags(of: category.tag) ?? [category.tag]).filter { !tags.contains($0) }
            guard tags.count + new.count <= tagsMax else {
                leftOut.append(category.name)
                continue
            }
            tags += new
            reasons.append(.init(category: category.name, because: reason))
        }
        let names = reasons.map(\.category)
        return Routing.Tagged(
            categories: names, tags: tags, expression: audience.expression(tags, isQuiet: false),
            quietExpression: audience.expression(tags, isQuiet: true), label: names.joined(separator: ", "),
            leftOut: leftOut, reasons: reasons, edition: audience.readers?.edition)
    }

    private func failure(of event: NewsEvent) -> ResultRecord.Failure {
        let claims = event.categories.isEmpty ? event.subjects : event.categories
        guard !claims.isEmpty else {
            return .init(.noCategory, "the event names neither a category nor a subject")
        }
        let quoted = claims.prefix(3).map { "“\(TextCut.excerpt($0))”" }.joined(separator: ", ")
        let more = claims.count > 3 ? " and \(claims.count - 3) more" : ""
        return event.categories.isEmpty
            ? .init(.unknownSubject, "no category of the settings has the subject \(quoted)\(more)")
            : .init(.unknownCategory, "the settings have no category \(quoted)\(more)")
    }
}
