import ByteText
import NotificationHub

/// One value of a template: literal text or an expression over the properties of a send.
///
/// The first character alone decides whether the whole value is an expression. A literal is copied unchanged, including
/// any `$(…)` inside it.
struct TemplateExpression: Sendable, Hashable {
    enum Part: Sendable, Hashable {
        case literal(String)
        case property(Property)
    }

    struct Property: Sendable, Hashable {
        /// The name in lower case, because names compare without regard to case.
        var name: String
        /// The replacement for a property that was not sent.
        var fallback: String?
        var form: Form
    }

    enum Form: Sendable, Hashable {
        /// `$(name)`: the whole text.
        case whole
        /// `$(name,n)`: the first n UTF-16 units.
        case clipped(Int)
        /// `.(name,n)`: at most n units, dots included.
        case dotted(Int)
        /// `%(name)`: the percent-encoded text.
        case percentEncoded
        /// `#(name)`: a number, if the text is one.
        case number
    }

    var parts: [Part]

    /// True for `#(name)`, which can become a JSON number.
    var isNumber: Bool {
        if case .property(let property) = parts.first { property.form == .number } else { false }
    }

    /// The text with these properties inserted. Missing properties are empty.
    /// - Returns: `nil` if the text has more than `lengthMax` bytes.
    func text(_ properties: TemplateProperties, lengthMax: Int) -> String? {
        var text = ""
        for part in parts {
            switch part {
            case .literal(let literal): text += literal
            case .property(let property):
                let value = properties[property.name] ?? property.fallback ?? ""
                text += property.form.applied(to: value)
            }
            guard text.utf8.count <= lengthMax else { return nil }
        }
        return text
    }

    /// True for a JSON number. The official clients exclude a minus sign.
    static func isNumber(_ text: String) -> Bool {
        !text.hasPrefix("-") && JSONTree(parsing: Array(text.utf8)) == .number(text)
    }
}

extension TemplateExpression.Form {
    func applied(to value: String) -> String {
        switch self {
        case .whole, .number: value
        case .percentEncoded: value.percentEncoded
        case .clipped(let length): Self.clip(value, to: length)
        case .dotted(let length):
            if value.utf16.count <= length {
                value
            } else {
                // Without room for the dots, the text is only clipped.
                length < 3 ? Self.clip(value, to: length) : Self.clip(value, to: length - 3) + "..."
            }
        }
    }

    /// The first `length` UTF-16 units, or one unit fewer to keep a surrogate pair whole.
    private static func clip(_ value: String, to length: Int) -> String {
        guard value.utf16.count > length else { return value }
        var cut = ""
        var used = 0
        for scalar in value.unicodeScalars {
            used += UTF16.width(scalar)
            if used > length { break }
            cut.unicodeScalars.append(scalar)
        }
        return cut
    }
}

struct TemplateProperties: Sendable {
    private var values: [String: String] = [:]

    /// - Parameter variables: the registration's own push variables. Sent properties override them.
    init(_ sent: [TemplateProperty], variables: [TemplateProperty] = []) {
        for property in variables { values[property.name.lowercased()] = property.value }
        for property in sent { values[property.name.lowercased()] = property.value }
    }

    /// - Parameter name: in lower case.
    subscript(name: String) -> String? { values[name] }
}

/// One named text of a template send.
struct TemplateProperty: Sendable, Hashable {
    var name: String
    var value: String
}

extension TemplateProperty {
    /// - Returns: `nil` unless the value is a string, a number or a boolean.
    init?(_ member: JSONTree.Member) {
        guard let text = member.value.scalarText else { return nil }
        self.init(name: member.name, value: text)
    }
}
