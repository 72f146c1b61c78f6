/// Validates orders before they are given, both on the command line and over HTTP.
public struct OrderRules: Sendable, Hashable {
    private let lanes: [String]
    private let categories: [String]
    private let aliases: [String: String]
    private let kinds: [String]

    /// - Parameters:
    ///   - lanes: the names of the configuration's lanes.
    ///   - categories: the names of its categories.
    ///   - aliases: the categories by their other names, in lower case.
    ///   - kinds: the kinds of interests.
    public init(lanes: [String], categories: [String], aliases: [String: String] = [:], kinds: [String] = []) {
        self.lanes = lanes
        self.categories = categories
        self.aliases = aliases
        self.kinds = kinds
    }

    /// Checks an order.
    ///
    /// - Returns: the order, with its category written as in the configuration.
    public func checked(_ instruction: Instruction) throws(OrderProblem) -> Instruction {
        var instruction = instruction
        switch instruction.scope {
        case .recall(let story): try Self.check(story, .story, bytesMax: Instruction.storyMax)
        case .stop(let gate): instruction.scope = .stop(try checked(gate, lifts: instruction.lifts))
        }
        if instruction.lifts, case .stop(.category(let name)) = instruction.scope {
            let known = category(named: name)
            instruction.names = known.map { [$0] + aliases.filter { $0.value == known }.keys.sorted() } ?? []
        }
        try Self.check(instruction.by, .by, bytesMax: Instruction.byMax)
        guard !Instruction.hasInvisible(instruction.by) else { throw .invisible(.by) }
        if let reason = instruction.reason { try Self.check(reason, .reason, bytesMax: Instruction.reasonMax) }
        if let text = instruction.replacement {
            try Self.check(text, .replacement, bytesMax: Instruction.replacementMax)
        }
        guard !instruction.needsReason else { throw .needsReason }
        return instruction
    }

    /// Checks the name of a lane or category, and the kind of an interest. Feeds and runs are not checked, because other
    /// processes may have them. A lift is accepted even if the configuration no longer names its lane or category.
    private func checked(_ gate: Gate, lifts: Bool) throws(OrderProblem) -> Gate {
        try Self.check(gate.path, .name, bytesMax: Instruction.storyMax)
        switch gate {
        case .lane(let name):
            guard lifts || lanes.contains(name) else { throw .unknown(name, kind: "a lane", known: lanes) }
        case .category(let name):
            // The order to lift may have another spelling than the configuration has now.
            if lifts { break }
            guard let known = category(named: name) else { throw .unknown(name, kind: "a category", known: categories) }
            return .category(known)
        case .interest(let name):
            let kind = name.prefix { $0 != ":" }.lowercased()
            let isKnown = name.contains(":") && kinds.contains { $0.lowercased() == kind }
            guard lifts || isKnown else { throw .unknown(name, kind: "an interest", known: kinds.map { "\($0):ID" }) }
            // Hubs ignore the case of tags. One spelling lets a second stop replace the first, and one resume end it.
            return .interest(name.lowercased())
        case .hub, .feed, .run: break
        }
        return gate
    }

    private func category(named name: String) -> String? {
        let folded = name.lowercased()
        return categories.first { $0.lowercased() == folded } ?? aliases[folded]
    }

    private static func check(_ text: String, _ part: OrderProblem.Part, bytesMax: Int) throws(OrderProblem) {
        guard !text.allSatisfy(\.isWhitespace) else { throw .blank(part) }
        guard text.utf8.count <= bytesMax else { throw .tooLong(part, bytesMax: bytesMax) }
    }
}

/// The reason why an order is refused.
public enum OrderProblem: Error, Sendable, Hashable {
    public enum Part: String, Sendable, Hashable {
        case story, name, reason, replacement
        case by = "name of who gives it"
    }

    case blank(Part)
    case tooLong(Part, bytesMax: Int)
    /// The part has characters that nobody sees.
    case invisible(Part)
    case needsReason
    /// - Parameter kind: "a lane", "a category" or "an interest".
    case unknown(String, kind: String, known: [String])

    /// A description of the problem for the person who gave the order.
    public var sentence: String {
        switch self {
        case .blank(let part): "The \(part.rawValue) needs some text."
        case .tooLong(let part, let bytesMax): "The \(part.rawValue) has at most \(bytesMax) bytes of UTF-8."
        case .invisible(let part): "The \(part.rawValue) contains an invisible character."
        case .needsReason: "This needs a reason: those who come later must know why."
        case .unknown(let name, let kind, let known):
            "'\(name.prefix(64))' is not \(kind) of the configuration. Known: \(known.joined(separator: ", "))."
        }
    }
}
