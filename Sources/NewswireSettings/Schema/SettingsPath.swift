/// The path to one setting, e.g. `lanes` → `live` → `maxAge`. In a pattern, `*` stands for a name that the user chooses.
package struct SettingsPath: Hashable, Sendable, CustomStringConvertible {
    package var parts: [String]

    init(_ parts: [String]) {
        self.parts = parts
    }

    /// Creates a path from a text such as `hub.connections`.
    package init(_ text: String) {
        parts = text.split(separator: ".").map(String.init)
    }

    static let root = SettingsPath([])

    package var description: String { parts.joined(separator: ".") }

    static func / (path: SettingsPath, part: String) -> SettingsPath { SettingsPath(path.parts + [part]) }

    func matches(_ pattern: SettingsPath) -> Bool {
        parts.count == pattern.parts.count && zip(parts, pattern.parts).allSatisfy { $1 == "*" || $0 == $1 }
    }

    /// True if the path is the beginning of the pattern, and shorter.
    func leads(to pattern: SettingsPath) -> Bool {
        parts.count < pattern.parts.count && zip(parts, pattern.parts).allSatisfy { $1 == "*" || $0 == $1 }
    }

    /// The environment variable that overrides it: `rate.perSecond` is `NEWSWIRE_RATE_PER_SECOND`.
    var environmentName: String {
        "NEWSWIRE_" + parts.map(Self.upperSnake).joined(separator: "_")
    }

    private static func upperSnake(_ part: String) -> String {
        let isOneWord = !part.contains(where: \.isLowercase)
        var name = ""
        for character in part {
            if character.isUppercase, !isOneWord, !name.isEmpty { name.append("_") }
            name += character.isLetter || character.isNumber ? character.uppercased() : "_"
        }
        return name
    }
}

extension SettingsPath: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) {
        self.init(text)
    }
}
