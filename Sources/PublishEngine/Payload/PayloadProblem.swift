/// A problem in the settings of categories, routing or payloads, and its remedy.
public struct PayloadProblem: Sendable, Hashable {
    /// The path of the setting, e.g. `["categories", "World", "tag"]`.
    public var path: [String]
    public var message: String
    /// The remedy, as an instruction.
    public var remedy: String

    public init(path: [String], message: String, remedy: String) {
        self.path = path
        self.message = message
        self.remedy = remedy
    }
}

/// Everything that is wrong with such settings, in reading order; never empty when thrown.
public struct PayloadProblems: Error, Sendable, Hashable, CustomStringConvertible {
    public var all: [PayloadProblem]

    public init(_ all: [PayloadProblem]) {
        self.all = all
    }

    public var description: String {
        all.map { "\($0.path.joined(separator: ".")): \($0.message); \($0.remedy)" }.joined(separator: "\n")
    }
}
