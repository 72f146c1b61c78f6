import ByteText

/// The type that a push service expects of one member of its payload.
package indirect enum PayloadMember: Sendable {
    case text
    case flag
    case number
    case whole
    /// A text of seconds with their unit, such as `3600s`.
    case duration
    /// One of these texts.
    case word([String])
    case list(PayloadMember)
    /// An object of texts under any names, except for reserved ones.
    case texts
    /// An object. Other members are ignored by the service.
    case object([String: PayloadMember])
    case either(PayloadMember, PayloadMember)
    case anything

    /// The expected type, in words that complete "must be".
    var expectation: String {
        switch self {
        case .text: "a string"
        case .flag: "true or false"
        case .number: "a number"
        case .whole: "a whole number"
        case .duration: "a text such as 3600s"
        case .word(let words): "one of \(words.joined(separator: ", "))"
        case .list: "a JSON array"
        case .texts, .object: "a JSON object"
        case .either(let one, let other): "\(one.expectation) or \(other.expectation)"
        case .anything: "any value"
        }
    }
}

/// A member of a payload that does not mean to the push service what its writer intends.
package struct PayloadFinding: Sendable, Hashable {
    package enum Kind: Sendable { case ignored, wrongValue, reserved }

    package var kind: Kind
    /// The path of the member in the payload, e.g. `["message", "android", "ttl"]`. In XML the names of the elements.
    package var path: [String]
    /// A predicate, e.g. `must be a string`.
    package var message: String
}

/// Compares values with a push service's vocabulary. Values may be templates with `{{variables}}`.
struct PayloadInspection {
    /// The service's name in messages.
    let service: String
    /// The rules of protobuf's JSON: names in camel case, words in any case, numbers and flags as text.
    var isProtobuf = false
    private(set) var findings: [PayloadFinding] = []

    init(_ service: String, isProtobuf: Bool = false) { (self.service, self.isProtobuf) = (service, isProtobuf) }

    mutating func report(_ kind: PayloadFinding.Kind, _ path: [String], _ message: String) {
        findings.append(PayloadFinding(kind: kind, path: path, message: message))
    }

    mutating func inspect(_ value: JSONTree, as member: PayloadMember, at path: [String]) {
        switch (member, value) {
        // A section of settings removes a member with null, and push services ignore it.
        case (_, .null), (.anything, _): break
        case (.either(let one, let other), _):
            let both = [one, other].map { member in
                var inspection = PayloadInspection(service, isProtobuf: isProtobuf)
                inspection.inspect(value, as: member, at: path)
                return inspection.findings
            }
            if let fitting = both.first(where: { $0.allSatisfy { $0.kind != .wrongValue || $0.path != path } }) {
                findings += fitting
            } else {
                report(.wrongValue, path, "must be \(member.expectation)")
            }
        case (.object(let known), .object(let members)):
            for item in members { inspect(item, known, at: path) }
        case (.texts, .object(let members)):
            for item in members {
                if isProtobuf, PayloadVocabulary.isReservedByGoogle(item.name) {
                    report(.reserved, path + [item.name], "is a name that Google reserves")
                } else {
                    inspect(item.value, as: .text, at: path + [item.name])
                }
            }
        case (.list(let element), .array(let values)):
            for (index, value) in values.enumerated() { inspect(value, as: element, at: path + ["\(index + 1)"]) }
        default:
            if !fits(value, member) { report(.wrongValue, path, "must be \(member.expectation)") }
        }
    }

    private mutating func inspect(_ item: JSONTree.Member, _ known: [String: PayloadMember], at path: [String]) {
        let name = isProtobuf ? Self.snakeCase(item.name) : item.name
        if let member = known[name] { return inspect(item.value, as: member, at: path + [item.name]) }
        let hint = Spelling.nearest(to: name, among: known.keys.sorted()).map { ", did you mean \($0)?" } ?? ""
        report(.ignored, path + [item.name], "is no member that \(service) knows\(hint)")
    }

    func fits(_ value: JSONTree, _ member: PayloadMember) -> Bool {
        let text = value.string
        let isTemplate = text?.contains("{{") ?? false
        return switch member {
        case .text: text != nil
        case .flag:
            if case .bool = value { true } else { isProtobuf && (isTemplate || text == "true" || text == "false") }
        case .number, .whole:
            if case .number(let digits) = value {
                if case .whole = member { Int(digits) != nil } else { true }
            } else {
                isProtobuf && (isTemplate || text.flatMap { Double($0) } != nil)
            }
        case .duration: isTemplate || text.map(Self.isDuration) == true
        case .word(let words):
            text.map { text in
                isTemplate || words.contains { isProtobuf ? $0.equalsIgnoringASCIICase(text) : $0 == text }
            } ?? false
        case .list, .texts, .object, .either, .anything: false
        }
    }

    /// Protobuf's duration: seconds with at most nine decimals.
    private static func isDuration(_ text: String) -> Bool {
        let parts = text.dropLast().split(separator: ".", omittingEmptySubsequences: false)
        return text.last == "s" && (1...2).contains(parts.count) && parts[0].utf8.count <= 12
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.count <= 12 && $0.utf8.allSatisfy(\.isASCIIDigit) }
    }

    private static func snakeCase(_ name: String) -> String {
        name.unicodeScalars.reduce(into: "") { snake, scalar in
            if ("A"..."Z").contains(scalar) { snake += "_" }
            snake += ("A"..."Z").contains(scalar) ? String(scalar).lowercased() : String(scalar)
        }
    }
}
