/// The place of a setting.
package enum SettingsPlace: Hashable, Sendable {
    /// Line and column, both from 1.
    case file(line: Int, column: Int)
    case environment(name: String)

    /// The place in words, for the middle of a sentence.
    var words: String {
        switch self {
        case .file(let line, _): "line \(line)"
        case .environment(let name): name
        }
    }

    static let start = SettingsPlace.file(line: 1, column: 1)
}

/// One problem of the settings, and its remedy. Never contains a secret.
package struct SettingsProblem: Hashable, Sendable {
    package enum Severity: String, Sendable { case error, warning }

    package var severity: Severity = .error
    package var place: SettingsPlace
    /// The key of the setting, such as `hub.connections`; empty for the file as a whole.
    package var key: String
    package var message: String
    /// An instruction, e.g. "write one, or remove the line".
    package var remedy: String

    /// The line `newswire.yaml:12:5: error: hub.connections: 0 is out of range; write a whole number from 1 to 1024`
    package func line(file: String) -> String {
        let subject = key.isEmpty ? "" : "\(key): "
        let end = remedy.isEmpty ? "" : "; \(remedy)"
        return switch place {
        case .file(let line, let column): "\(file):\(line):\(column): \(severity.rawValue): \(subject)\(message)\(end)"
        case .environment(let name): "\(name) (environment): \(severity.rawValue): \(subject)\(message)\(end)"
        }
    }
}

extension SettingsProblem: Comparable {
    /// Compares in reading order: the file from top to bottom, then the environment by name.
    package static func < (lhs: SettingsProblem, rhs: SettingsProblem) -> Bool {
        switch (lhs.place, rhs.place) {
        case (.file(let l1, let c1), .file(let l2, let c2)):
            (l1, c1, lhs.key, lhs.message) < (l2, c2, rhs.key, rhs.message)
        case (.environment(let left), .environment(let right)): (left, lhs.message) < (right, rhs.message)
        case (.file, .environment): true
        case (.environment, .file): false
        }
    }
}
