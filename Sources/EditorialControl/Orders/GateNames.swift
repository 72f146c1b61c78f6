/// The lanes and categories of a configuration. A stop is checked by them before it is given, on the command line and over HTTP.
///
/// Feeds and runs are not checked: processes with another configuration may follow them.
public struct GateNames: Sendable, Hashable {
    public var lanes: [String]
    public var categories: [String]

    public init(lanes: [String], categories: [String]) {
        self.lanes = lanes
        self.categories = categories
    }

    /// A name that the configuration does not have.
    public struct Unknown: Error, Sendable, Hashable {
        public var name: String
        /// What it should be, with its article: `a lane`.
        public var kind: String
        public var known: [String]

        /// For whoever gave the order.
        public var sentence: String {
            "'\(name)' is not \(kind) of the configuration. Known: \(known.joined(separator: ", "))."
        }
    }

    /// The gate as the configuration spells it. Categories are compared without case, lanes are not.
    ///
    /// What the configuration does not know keeps its spelling: it may have been stopped before and can be resumed.
    public func spelled(_ gate: Gate) -> Gate {
        guard case .category(let name) = gate,
            let known = categories.first(where: { $0.lowercased() == name.lowercased() })
        else { return gate }
        return .category(known)
    }

    /// The gate that may be stopped, as the configuration spells it.
    ///
    /// - Throws: that the configuration does not have it.
    public func known(_ gate: Gate) throws(Unknown) -> Gate {
        let gate = spelled(gate)
        switch gate {
        case .lane(let name) where !lanes.contains(name): throw Unknown(name: name, kind: "a lane", known: lanes)
        case .category(let name) where !categories.contains(name):
            throw Unknown(name: name, kind: "a category", known: categories)
        case .hub, .lane, .category, .feed, .run: return gate
        }
    }
}
