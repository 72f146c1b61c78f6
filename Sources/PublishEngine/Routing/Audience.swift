public import NotificationHub

/// The devices that a send is for, apart from its categories: those that have a template, or testers.
public struct Audience: Sendable, Hashable {
    public var templates: PayloadSettings.TemplateNames?
    /// The only tag that tests go to.
    public var testTag: String?
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
        templates == nil ? TagExpression.tagsMaxJoinedByOr : TagExpression.tagsMax - 1
    }

    /// The devices with any of the tags, as a printed expression: `World || Politics`, or
    /// `(World || Politics) && breakingNews` where devices have two templates.
    public func expression(_ tags: [String], isQuiet: Bool) -> String {
        Self.printed { () throws -> [TagExpression] in [try Self.anyOf(tags)] + (try template(isQuiet)) }
    }

    /// The testers among them: `staff && (World || Politics)`. All testers where there are no tags, or no room for all of them.
    func testExpression(_ tags: [String], isQuiet: Bool) -> String {
        guard let testTag else { return "" }
        return Self.printed { () throws -> [TagExpression] in
            let (testers, template) = (TagExpression(try Tag(testTag)), try template(isQuiet))
            let fits = !tags.isEmpty && tags.count + 1 + template.count <= TagExpression.tagsMax
            return [testers] + (fits ? [try Self.anyOf(tags)] : []) + template
        }
    }

    private func template(_ isQuiet: Bool) throws -> [TagExpression] {
        guard let templates else { return [] }
        return [TagExpression(try Tag(isQuiet ? templates.quiet : templates.normal))]
    }

    private static func anyOf(_ tags: [String]) throws -> TagExpression { try .anyOf(try tags.map { try Tag($0) }) }

    /// The settings have checked every tag. Should one fail here all the same, the send goes to nobody: a part that is left out
    /// would widen it to devices that it is not for.
    private static func printed(_ parts: () throws -> [TagExpression]) -> String {
        (try? TagExpression.allOf(try parts()))?.description ?? ""
    }
}
