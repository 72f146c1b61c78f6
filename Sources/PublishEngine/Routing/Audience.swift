public import NotificationHub

/// The devices that a send is for, apart from its categories: those that have a template, or testers.
public struct Audience: Sendable, Hashable {
    public var templates: PayloadSettings.TemplateNames?
    /// The only tag that tests go to.
    public var testTag: String?
    /// Where languages have tags: those of one language, or of all.
    var readers: LanguageReaders?
    /// How single readers are reached.
    public var users: UserTags

    public init(
        templates: PayloadSettings.TemplateNames? = nil, testTag: String? = nil, users: UserTags = .reserved()
    ) {
        self.templates = templates
        self.testTag = testTag
        self.users = users
    }

    /// The most tags of categories or users that an expression has room for: a hub takes fewer where not all are joined by `||`.
    var tagsMax: Int {
        let others = (templates == nil ? 0 : 1) + (readers?.commonTag == nil ? 0 : 1)
        return others == 0 ? TagExpression.tagsMaxJoinedByOr : TagExpression.tagsMax - others
    }

    /// The devices with any of the tags, as a printed expression: `World || Politics`, or
    /// `(World || Politics) && breakingNews` where devices have two templates.
    public func expression(_ tags: [String], isQuiet: Bool) -> String {
        Self.printed { () throws -> [TagExpression] in [try Self.anyOf(tags)] + (try common(isQuiet)) }
    }

    /// The testers among them: `staff && (World || Politics)`. All testers where there are no tags, or no room for all of them.
    func testExpression(_ tags: [String], isQuiet: Bool) -> String {
        guard let testTag else { return "" }
        return Self.printed { () throws -> [TagExpression] in
            let (testers, common) = (TagExpression(try Tag(testTag)), try common(isQuiet))
            let fits = !tags.isEmpty && tags.count + 1 + common.count <= TagExpression.tagsMax
            return [testers] + (fits ? [try Self.anyOf(tags)] : []) + common
        }
    }

    /// What all its devices have: their language, and the template.
    private func common(_ isQuiet: Bool) throws -> [TagExpression] {
        let template = templates.map { isQuiet ? $0.quiet : $0.normal }
        return try [readers?.commonTag, template].compactMap { try $0.map { TagExpression(try Tag($0)) } }
    }

    private static func anyOf(_ tags: [String]) throws -> TagExpression { try .anyOf(try tags.map { try Tag($0) }) }

    /// The settings have checked every tag. Should one fail here all the same, the send goes to nobody: a part that is left out
    /// would widen it to devices that it is not for.
    private static func printed(_ parts: () throws -> [TagExpression]) -> String {
        (try? TagExpression.allOf(try parts()))?.description ?? ""
    }
}
