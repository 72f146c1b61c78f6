/// Which devices a send is for: tags joined with `||`, `&&`, `!` and parentheses.
///
/// An expression holds at most 20 tags when it has no operator but `||`, else at most 6, every occurrence counted: the
/// documented limits of the service, which does not say what happens beyond them.
public struct TagExpression: Sendable, Hashable {
    public static let tagsMaxJoinedByOr = 20
    public static let tagsMax = 6
    /// Bytes of text.
    public static let lengthMax = 4096
    /// How deep `!` and parentheses may nest.
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

    /// Devices that have at least one of the tags. A tag that comes twice is taken once, where it came first.
    /// - Throws: for no tags, and for more than 20. Splitting them over two sends would reach a device with tags from
    ///   both twice; one coarser tag would not.
    public static func anyOf(_ tags: [Tag]) throws(TagExpressionProblem) -> TagExpression {
        var seen: Set<Tag> = []
        let distinct = tags.filter { seen.insert($0).inserted }
        guard let first = distinct.first else { throw TagExpressionProblem(.empty, position: 1) }
        guard distinct.count <= tagsMaxJoinedByOr else { throw TagExpressionProblem(.tooManyTags, position: 1) }
        return TagExpression(distinct.count == 1 ? .tag(first) : .any(distinct.map { .tag($0) }))
    }

    /// Whether a registration with these tags is meant.
    public func matches(_ tags: Set<Tag>) -> Bool {
        root.matches(tags)
    }

    /// The tags in the order they are written, repeats included.
    public var tags: [Tag] { root.tags }
}

extension TagExpression.Node {
    // The parser bounds the depth, hence the recursion here and below.
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
    /// The header's value. Operators that meet are always parenthesised: the service does not say which goes first.
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
