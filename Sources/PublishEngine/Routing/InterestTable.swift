import NotificationHub

/// The kinds of things that readers may follow beside categories, such as teams and authors, and the tags of their followers.
public struct InterestTable: Sendable, Hashable {
    public struct Kind: Sendable, Hashable {
        /// The part of an interest before the colon: `team` in `team:bvb`. Compared without case.
        public var name: String
        /// The tag of an interest's followers; `{id}` stands for the part after the colon.
        public var tag: String

        /// - Parameter tag: `nil` for the standard tag, e.g. `team_{id}`.
        public init(name: String, tag: String? = nil) {
            self.name = name
            self.tag = tag ?? "\(name)_\(idMark)"
        }
    }

    public static let idMark = "{id}"

    public let kinds: [Kind]
    private let byName: [String: Kind]

    public init(_ kinds: [Kind] = []) {
        self.kinds = kinds
        byName = Dictionary(kinds.map { (CategoryTable.fold($0.name), $0) }) { first, _ in first }
    }

    /// The interests of one event.
    struct Found {
        /// The interests that readers can follow, e.g. `team:bvb`, with the kind as in the settings.
        var names: [String] = []
        /// The tag of each.
        var tags: [String] = []
        /// The others, each with the reason, as a result names them.
        var unknown: [String] = []
    }

    func find(_ interests: [String]) -> Found {
        var found = Found()
        var seen: Set<Tag> = []
        for interest in interests {
            switch find(interest) {
            case .success(let (name, tag)):
                guard seen.insert(tag).inserted else { continue }
                found.names.append(name)
                found.tags.append(tag.text)
            case .failure(let problem):
                let words = "interest \(TextCut.excerpt(interest)): \(problem.rawValue)"
                if !found.unknown.contains(words) { found.unknown.append(words) }
            }
        }
        return found
    }

    private enum Problem: String, Error {
        case unknownKind = "unknown kind"
        case badID = "bad id"
    }

    private func find(_ interest: String) -> Result<(name: String, tag: Tag), Problem> {
        guard let colon = interest.firstIndex(of: ":"),
            let kind = byName[CategoryTable.fold(String(interest[..<colon]))]
        else { return .failure(.unknownKind) }
        let id = String(interest[interest.index(after: colon)...])
        guard !id.isEmpty, let tag = try? Tag(kind.tag.replacing(Self.idMark, with: id)), tag.kind == .ordinary else {
            return .failure(.badID)
        }
        return .success(("\(kind.name):\(id)", tag))
    }

    // MARK: Problems

    /// The most kinds that a table holds.
    static let kindsMax = 100

    /// Problems of the kinds, in their order.
    ///
    /// - Parameters:
    ///   - special: tags that only some devices have, or all: the testers' and the templates'.
    ///   - localization: the languages, which may have tags.
    public func problems(
        besides special: [String], _ categories: [CategoryTable.Category], _ localization: Localization?
    ) -> [PayloadProblem] {
        let tags = categories.map(\.tag) + special + (localization?.tags(of: categories) ?? [])
        let problems = problems(besides: tags)
        guard problems.isEmpty, let localization, localization.mode == .tags else { return problems }
        return localization.languages.lazy.map { language in
            let localized = kinds.map {
                Kind(name: $0.name, tag: localization.tag(of: language, category: $0.tag))
            }
            return InterestTable(localized).problems(besides: special)
        }.first { !$0.isEmpty } ?? []
    }

    private func problems(besides others: [String]) -> [PayloadProblem] {
        var problems: [PayloadProblem] = []
        func report(_ path: [String], _ message: String, _ remedy: String) {
            problems.append(PayloadProblem(path: ["interests"] + path, message: message, remedy: remedy))
        }
        if kinds.count > Self.kindsMax {
            report([], "there are \(kinds.count) kinds", "name at most \(Self.kindsMax)")
        }
        var patterns: [(name: String, pattern: TagPattern)] = []
        for kind in kinds.prefix(Self.kindsMax) {
            let path = [kind.name, "tag"]
            let isName =
                (1...64).contains(kind.name.utf8.count)
                && kind.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
            guard isName else {
                report([kind.name], "is not a valid name for a kind", "use at most 64 letters, digits, '-' or '_'")
                continue
            }
            if patterns.contains(where: { CategoryTable.fold($0.name) == CategoryTable.fold(kind.name) }) {
                report([kind.name], "is the name of two kinds", "give each a name of its own; case does not count")
            }
            guard let pattern = TagPattern(kind.tag) else {
                report(
                    path, "'\(TextCut.excerpt(kind.tag))' cannot be a tag with {id} after its beginning",
                    "write e.g. \(kind.name)_{id}, with letters, digits and _ @ # . : -")
                continue
            }
            if let other = patterns.first(where: { $0.pattern.overlaps(pattern) }) {
                report(
                    path, "could make the same tag as that of \(other.name)", "begin each kind's tag with its own word")
            }
            if let other = others.first(where: pattern.covers) {
                report(
                    path, "could make the tag \(TextCut.excerpt(other)), which has another meaning",
                    "begin the tag with another word")
            }
            if pattern.overlaps(TagPattern.user) {
                report(path, "could make the tag of a single reader", "begin the tag with another word")
            }
            patterns.append((kind.name, pattern))
        }
        return problems
    }
}

/// A tag with a part that varies.
private struct TagPattern {
    let prefix: String
    let suffix: String

    /// The signed tags of single readers.
    static let user = TagPattern(prefix: UserTags.prefix, suffix: "")

    private init(prefix: String, suffix: String) { (self.prefix, self.suffix) = (prefix, suffix) }

    /// - Returns: `nil` unless the text is a tag with one `{id}`, which does not begin it.
    init?(_ text: String) {
        let parts = text.split(separator: InterestTable.idMark, omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty,
            let tag = try? Tag(text.replacing(InterestTable.idMark, with: "1")), tag.kind == .ordinary
        else { return nil }
        self.init(prefix: parts[0].lowercased(), suffix: parts[1].lowercased())
    }

    /// True if one tag can have both patterns.
    func overlaps(_ other: TagPattern) -> Bool {
        (prefix.hasPrefix(other.prefix) || other.prefix.hasPrefix(prefix))
            && (suffix.hasSuffix(other.suffix) || other.suffix.hasSuffix(suffix))
    }

    func covers(_ tag: String) -> Bool {
        let tag = tag.lowercased()
        return tag.utf8.count > prefix.utf8.count + suffix.utf8.count && tag.hasPrefix(prefix) && tag.hasSuffix(suffix)
    }
}
