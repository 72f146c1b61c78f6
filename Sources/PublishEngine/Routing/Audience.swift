public import NotificationHub

/// The devices that a send is for, apart from its categories: those that have a template, or testers.
public struct Audience: Sendable, Hashable {
    public var templates: PayloadSettings.TemplateNames?
    /// The only tag that test events go to.
    public var testTag: String?
    /// The readers of one language or of all, if languages have tags.
    var readers: LanguageReaders?
    /// The tags of single readers.
    public var users: UserTags
    /// The kinds of interests that readers follow.
    public var interests: InterestTable

    public init(
        templates: PayloadSettings.TemplateNames? = nil, testTag: String? = nil, users: UserTags = .reserved(),
        interests: InterestTable = InterestTable()
    ) {
        self.templates = templates
        self.testTag = testTag
        self.users = users
        self.interests = interests
    }

    /// The maximum category, interest or user tags of an expression; fewer if other tags are joined by `&&`.
    var tagsMax: Int {
        let others = (templates == nil ? 0 : 1) + (readers?.commonTag == nil ? 0 : 1)
        return others == 0 ? TagExpression.tagsMaxJoinedByOr : TagExpression.tagsMax - others
    }

    /// The devices with any of the tags, as a printed expression: `World || Politics`, or
    /// `(World || Politics) && breakingNews` where devices have two templates.
    public func expression(_ tags: [String], isQuiet: Bool) -> String {
        Self.printed { () throws -> [TagExpression] in [try Self.anyOf(tags)] + (try common(isQuiet)) }
    }

    /// The testers among these devices: `staff && (World || Politics)`; all testers if there are no tags or no room.
    func testExpression(_ tags: [String], isQuiet: Bool) -> String {
        guard let testTag else { return "" }
        return Self.printed { () throws -> [TagExpression] in
            let (testers, common) = (TagExpression(try Tag(testTag)), try common(isQuiet))
            let fits = !tags.isEmpty && tags.count + 1 + common.count <= TagExpression.tagsMax
            return [testers] + (fits ? [try Self.anyOf(tags)] : []) + common
        }
    }

    /// The tags that all devices of the send have: their language and the template.
    private func common(_ isQuiet: Bool) throws -> [TagExpression] {
        let template = templates.map { isQuiet ? $0.quiet : $0.normal }
        return try [readers?.commonTag, template].compactMap { try $0.map { TagExpression(try Tag($0)) } }
    }

    private static func anyOf(_ tags: [String]) throws -> TagExpression { try .anyOf(try tags.map { try Tag($0) }) }

    /// Prints an expression. The settings have checked every tag. If a tag fails here, the send goes to nobody, because
    /// leaving a part out would widen the audience.
    private static func printed(_ parts: () throws -> [TagExpression]) -> String {
        (try? TagExpression.allOf(try parts()))?.description ?? ""
    }
}
