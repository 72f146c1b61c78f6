import ByteText
public import NotificationHub

/// Something that a reader can follow beside categories, such as a team, an author or a running story.
public struct NewsInterest: Sendable, Hashable, Identifiable, CustomStringConvertible {
    /// The kind, as in the newsroom's setting `interests`, e.g. `team`.
    public let kind: String
    /// The thing within its kind, e.g. `bvb`.
    public let item: String
    /// The tag to which the newsroom sends.
    public let tag: Tag

    public var id: Tag { tag }

    /// The form that events use, e.g. `team:bvb`.
    public var description: String { "\(kind):\(item)" }

    /// - Parameters:
    ///   - name: the kind and the item, e.g. `team:bvb`.
    ///   - pattern: the newsroom's `interests.KIND.tag`, in which `{id}` stands for the item; `nil` for its default.
    public init(_ name: String, pattern: String? = nil) throws(NewsInterestProblem) {
        guard let colon = name.firstIndex(of: ":"), colon > name.startIndex, name.index(after: colon) < name.endIndex
        else { throw .noKind(name: name) }
        try self.init(
            kind: String(name[..<colon]), item: String(name[name.index(after: colon)...]), pattern: pattern)
    }

    public init(kind: String, item: String, pattern: String? = nil) throws(NewsInterestProblem) {
        guard !kind.isEmpty, !kind.contains(":"), !item.isEmpty else { throw .noKind(name: "\(kind):\(item)") }
        let text = (pattern ?? "\(kind)_{id}").replacing("{id}", with: item)
        do throws(TagProblem) { tag = try Tag(text) } catch {
            throw .unfit(name: "\(kind):\(item)", because: "\(error)")
        }
        guard tag.kind == .ordinary else {
            throw .unfit(name: "\(kind):\(item)", because: "tags that start with '$' are the hub's own")
        }
        (self.kind, self.item) = (kind, item)
    }
}

/// The reason why an interest was refused.
public enum NewsInterestProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name is not a kind and an item with a colon between them.
    case noKind(name: String)
    /// No tag can be made of the interest.
    case unfit(name: String, because: String)
    /// The device would have more tags than a hub takes.
    case tooMany(max: Int)

    public var description: String {
        switch self {
        case .noKind(let name): "'\(name.prefix(60))' is no interest; write kind and id, such as team:bvb"
        case .unfit(let name, let problem): "'\(name.prefix(60))': \(problem)"
        case .tooMany(let max):
            "a device has at most \(max) tags, of categories and interests together; stop following something first"
        }
    }
}

/// The interests that the reader follows beside categories, kept on the device.
public struct InterestStore: Sendable {
    private let store: any LocalStore
    private let categories: CategoryStore?

    private static let name = "interests"

    private struct Kept: Codable {
        var kind: String
        var item: String
        var tag: String
    }

    /// - Parameter categories: the choices that share the device's tags with the interests.
    public init(_ store: any LocalStore, beside categories: CategoryStore? = nil) {
        self.store = store
        self.categories = categories
    }

    /// The interests that the reader follows, in the order in which they were followed, with the tags that they had then.
    /// Each is read separately, so that an invalid one does not affect the others.
    public var followed: [NewsInterest] {
        kept.compactMap { try? NewsInterest(kind: $0.kind, item: $0.item, pattern: $0.tag) }
    }

    /// The interests that the reader follows, with the tags that the newsroom uses for them now. Use it if the tags
    /// depend on the reader's language.
    ///
    /// - Parameter pattern: the newsroom's `interests.KIND.tag` for a kind; `nil` for its default. Interests of which it
    ///   makes no tag are left out.
    public func followed(pattern: (_ kind: String) -> String?) -> [NewsInterest] {
        kept.compactMap { try? NewsInterest(kind: $0.kind, item: $0.item, pattern: pattern($0.kind)) }
    }

    public func isFollowed(_ interest: NewsInterest) -> Bool { followed.contains { $0.isSame(as: interest) } }

    /// Follows an interest; does nothing if the reader follows it. If the reader follows it with another tag, the new tag
    /// replaces that one.
    ///
    /// - Throws: `NewsInterestProblem.tooMany` if the hub would refuse the device's tags, and errors of the store.
    public func follow(_ interest: NewsInterest) throws {
        var followed = followed
        guard !followed.contains(where: { $0.tag == interest.tag }) else { return }
        if let index = followed.firstIndex(where: { $0.isSame(as: interest) }) {
            followed[index] = interest
        } else {
            followed.append(interest)
        }
        let tags = Set((categories?.chosen ?? []).map(\.tag)).union(followed.map(\.tag))
        guard tags.count <= Subscription.tagsMax else {
            throw NewsInterestProblem.tooMany(max: Subscription.tagsMax)
        }
        try keep(followed)
    }

    /// Stops following an interest; does nothing if the reader does not follow it.
    public func unfollow(_ interest: NewsInterest) throws {
        let followed = followed
        let others = followed.filter { !$0.isSame(as: interest) }
        if others.count < followed.count { try keep(others) }
    }

    private var kept: [Kept] { store.value([Kept].self, named: Self.name) ?? [] }

    private func keep(_ interests: [NewsInterest]) throws {
        let kept = interests.map { Kept(kind: $0.kind, item: $0.item, tag: $0.tag.text) }
        try store.save(value: kept, named: Self.name)
    }
}

extension NewsInterest {
    /// True for the same thing, in whatever language its tag is, and for another name with the same tag.
    fileprivate func isSame(as other: NewsInterest) -> Bool {
        tag == other.tag || (kind.equalsIgnoringASCIICase(other.kind) && item.equalsIgnoringASCIICase(other.item))
    }
}
