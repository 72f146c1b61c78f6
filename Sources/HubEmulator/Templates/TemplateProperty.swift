/// One named text of a template send.
struct TemplateProperty: Sendable, Hashable {
    var name: String
    var value: String
}
