public import NewsModel
import NotificationHub

/// Decides which tags an event goes to.
///
/// Names come first, and subjects count only when no name is known: a category is an editor's decision, subjects only
/// describe the item, and their union would alert more readers than the editor chose. Unknown names beside a known one
/// are ignored.
///
/// An object, because every event uses it: copying the references of its tables would cost more than routing.
public final class Router: Sendable {
    public let table: CategoryTable
    private let fallback: Routing.Tagged?
    /// The routing of each category alone, made once: nearly every event has one.
    private let singles: [Routing.Tagged]

    /// - Throws: every problem of `problems(table:unroutable:)`.
    public init(table: CategoryTable = .standard, unroutable: UnroutablePolicy = .deadLetter) throws(PayloadProblems) {
        let problems = Self.problems(table: table, unroutable: unroutable)
        guard problems.isEmpty else { throw PayloadProblems(problems) }
        self.table = table
        singles = table.categories.map { Self.tagged([$0]) }
        switch unroutable {
        case .deadLetter: fallback = nil
        case .category(let name): fallback = table.index(named: name).map { Self.tagged([table.categories[$0]]) }
        }
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

    public func route(_ event: NewsEvent) -> Routing {
        if event.categories.count == 1, let name = event.categories.first, let index = table.index(named: name) {
            return .tagged(singles[index])
        }
        var found = event.categories.compactMap(table.index(named:))
        if found.isEmpty { found = event.subjects.flatMap(table.indices(ofSubject:)) }
        if let only = found.first, found.allSatisfy({ $0 == only }) { return .tagged(singles[only]) }
        guard !found.isEmpty else {
            return fallback.map(Routing.tagged) ?? .unroutable(failure(of: event))
        }
        return .tagged(several(found))
    }

    private func several(_ found: [Int]) -> Routing.Tagged {
        var isFound = [Bool](repeating: false, count: table.categories.count)
        for index in found { isFound[index] = true }
        return Self.tagged(zip(table.categories, isFound).filter(\.1).map(\.0))
    }

    /// Takes categories in the table's order until the hub's limit of tags is reached.
    private static func tagged(_ categories: [CategoryTable.Category]) -> Routing.Tagged {
        var tags: [String] = []
        var names: [String] = []
        var leftOut: [String] = []
        for category in categories {
            if !tags.contains(category.tag) {
                guard tags.count < TagExpression.tagsMaxJoinedByOr else {
                    leftOut.append(category.name)
                    continue
                }
                tags.append(category.tag)
            }
            names.append(category.name)
        }
        // The table has checked every tag. Should one fail here all the same, it is left out rather than change the meaning
        // of the expression.
        let expression = try? TagExpression.anyOf(tags.compactMap { try? Tag($0) })
        return Routing.Tagged(
            categories: names, tags: tags, expression: expression?.description ?? "",
            label: names.joined(separator: ", "), leftOut: leftOut)
    }

    private func failure(of event: NewsEvent) -> ResultRecord.Failure {
        let claims = event.categories.isEmpty ? event.subjects : event.categories
        guard !claims.isEmpty else {
            return .init(.noCategory, "the event names neither a category nor a subject")
        }
        let quoted = claims.prefix(3).map { "“\(TextCut.excerpt($0))”" }.joined(separator: ", ")
        let more = claims.count > 3 ? " and \(claims.count - 3) more" : ""
        let (code, what): (FailureCode, String) =
            event.categories.isEmpty ? (.unknownSubject, "subject") : (.unknownCategory, "category")
        return .init(code, "no category of the settings has the \(what) \(quoted)\(more)")
    }
}
