/// The devices that a send addresses: tags joined with `||`, `&&`, `!` and parentheses.
///
/// An expression has at most 20 tags if `||` is its only operator, otherwise at most 6. Every occurrence counts. These
/// are the service's documented limits; its behaviour beyond them is not documented.
public struct TagExpression: Sendable, Hashable {
    public static let tagsMaxJoinedByOr = 20
    public static let tagsMax = 6
    /// The longest text, in bytes.
    public static let lengthMax = 4096
    /// The deepest nesting of `!` and parentheses.
    public static let depthMax = 32

    let root: Node

    indirect enum Node: Sendable, Hashable {
        case tag(Tag)
        case not(Node)
        case all([Node])
        case any([Node])
    }

    init(_ root: Node) {
        self.root = root
    }

    public init(_ tag: Tag) {
        root = .tag(tag)
    }

    /// Addresses devices that have at least one of the tags. Repeated tags are dropped.
    /// - Throws: for 0 tags and for more than 20. Do not split the tags over two sends, because a device with tags from
    ///   both would receive two notifications. Use one broader tag instead.
    public static func anyOf(_ tags: [Tag]) throws(TagExpressionProblem) -> TagExpression {
        var seen: Set<Tag> = []
        let distinct = tags.filter { seen.insert($0).inserted }
        guard let first = distinct.first else { throw TagExpressionProblem(.empty, position: 1) }
        guard distinct.count <= tagsMaxJoinedByOr else { throw TagExpressionProblem(.tooManyTags, position: 1) }
        return TagExpression(distinct.count == 1 ? .tag(first) : .any(distinct.map { .tag($0) }))
    }

    /// Addresses devices that all of the expressions address.
    /// - Throws: for 0 expressions, and for more than 6 tags in total.
    public static func allOf(_ expressions: [TagExpression]) throws(TagExpressionProblem) -> TagExpression {
        guard let first = expressions.first else { throw TagExpressionProblem(.empty, position: 1) }
        guard expressions.count > 1 else { return first }
        let all = TagExpression(.all(expressions.map(\.root)))
        guard all.tags.count <= tagsMax else { throw TagExpressionProblem(.tooManyMixedTags, position: 1) }
        return all
    }

    /// True if a registration with these tags matches.
    public func matches(_ tags: Set<Tag>) -> Bool {
        root.matches(tags)
    }

    /// The tags in written order, including repeats.
    public var tags: [Tag] { root.tags }
}

extension TagExpression.Node {
    // Recursion is safe here and below, because the parser limits the depth.
    fileprivate func matches(_ tags: Set<Tag>) -> Bool {
        switch self {
        case .tag(let tag): tags.contains(tag)
        case .not(let node): !node.matches(tags)
        case .all(let nodes): nodes.allSatisfy { $0.matches(tags) }
        case .any(let nodes): nodes.contains { $0.matches(tags) }
        }
    }

    fileprivate var tags: [Tag] {
        switch self {
        case .tag(let tag): [tag]
        case .not(let node): node.tags
        case .all(let nodes), .any(let nodes): nodes.flatMap(\.tags)
        }
    }
}

extension TagExpression: CustomStringConvertible {
    /// The header's value. Mixed operators are always parenthesised, because the service does not document their
    /// precedence.
    public var description: String { root.text }
}

extension TagExpression.Node {
    fileprivate var text: String {
        switch self {
        case .tag(let tag): tag.text
        case .not(let node): "!\(node.operand)"
        case .all(let nodes): nodes.map(\.operand).joined(separator: " && ")
        case .any(let nodes): nodes.map(\.operand).joined(separator: " || ")
        }
    }

    fileprivate var operand: String {
        switch self {
        case .tag, .not: text
        case .all, .any: "(\(text))"
        }
    }
}
