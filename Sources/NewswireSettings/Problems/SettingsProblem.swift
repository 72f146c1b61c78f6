/// Where a setting was written.
enum SettingsPlace: Hashable, Sendable {
    /// Line and column, both from 1.
    case file(line: Int, column: Int)
    case environment(name: String)

    static let start = SettingsPlace.file(line: 1, column: 1)
}

/// One thing that is wrong with the settings, and what to do about it. Never holds a secret.
struct SettingsProblem: Hashable, Sendable {
    enum Severity: String, Sendable { case error, warning }

    var severity: Severity = .error
    var place: SettingsPlace
    /// The key as one would say it, e.g. `hub.connections`; empty for the file as a whole.
    var key: String
    var message: String
    /// What to do, as an instruction.
    var remedy: String

    /// `newswire.yaml:12:5: error: hub.connections: 0 is out of range; write a whole number from 1 to 1024`
    func line(file: String) -> String {
        let subject = key.isEmpty ? "" : "\(key): "
        let end = remedy.isEmpty ? "" : "; \(remedy)"
        return switch place {
        case .file(let line, let column): "\(file):\(line):\(column): \(severity.rawValue): \(subject)\(message)\(end)"
        case .environment(let name): "\(name) (environment): \(severity.rawValue): \(subject)\(message)\(end)"
        }
    }
}

extension SettingsProblem: Comparable {
    /// In reading order: the file from top to bottom, then the environment by name.
    static func < (lhs: SettingsProblem, rhs: SettingsProblem) -> Bool {
        switch (lhs.place, rhs.place) {
        case (.file(let l1, let c1), .file(let l2, let c2)):
            (l1, c1, lhs.key, lhs.message) < (l2, c2, rhs.key, rhs.message)
        case (.environment(let left), .environment(let right)): (left, lhs.message) < (right, rhs.message)
        case (.file, .environment): true
        case (.environment, .file): false
        }
    }
}
