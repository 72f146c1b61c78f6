import NewsModel

/// The environment that a hub serves. A process that names another one for its group's hub sends nothing.
public struct HubEnvironment: Sendable, Hashable, CustomStringConvertible {
    /// Name of the environment, e.g. `production`.
    public var name: String
    public var host: String
    public var hub: String
    /// The consumer group that sends to the hub; `nil` in records of older versions.
    public var group: String?
    /// The settings of the writer name no environment, so `name` is an assumption, and `host` and `hub` bind nobody. Only
    /// `newswire topics --create` writes it: processes of older versions whose settings name no environment would stop.
    public var isImplied: Bool

    public init(name: String, host: String, hub: String, group: String? = nil, isImplied: Bool = false) {
        self.name = name
        self.isImplied = isImplied
        self.host = host
        self.hub = hub
        self.group = group
    }

    public var description: String { "\(name) (hub \(hub) at \(host))" }

    fileprivate func says(same other: HubEnvironment) -> Bool {
        name == other.name && (isImplied || other.isImplied || (host == other.host && hub == other.hub))
    }

    var json: [UInt8] {
        JSONWriter.object { json in
            json.field("environment", name)
            json.field("host", host)
            json.field("hub", hub)
            json.field("group", group)
            if isImplied { json.field("implied", true) }
        }
    }
}

/// The environments on a control topic. Groups that send to hubs of their own share one topic, so that an order reaches all of
/// them; they must all serve the same environment.
public struct HubEnvironments: Sendable, Hashable {
    /// The environment of the group that wrote first.
    public private(set) var first: HubEnvironment?
    /// The environments of further groups, by group.
    private var further: [String: HubEnvironment] = [:]

    /// The groups that are named with an environment.
    var groups: Set<String> { Set(further.keys).union(first?.group.map { [$0] } ?? []) }

    /// Limit of further groups. More are ignored, so that their processes do not start.
    private static let furtherMax = 1_000

    public init() {}

    mutating func apply(_ found: HubEnvironment, isFirst: Bool) {
        guard !isFirst else {
            first = found
            return
        }
        guard let group = found.group, further[group] != nil || further.count < Self.furtherMax else { return }
        further[group] = found
    }

    mutating func remove(group: String?) {
        if let group { further[group] = nil } else { first = nil }
    }

    /// Compares the environment in the settings with those on the topic.
    public func agreement(with ours: HubEnvironment?) -> EnvironmentAgreement {
        guard let first else { return ours.map { .unwritten($0, isFirst: true) } ?? .unnamed }
        guard let ours else { return .disagreed(ours: nil, theirs: first) }
        if let group = ours.group, let own = further[group] {
            return own.says(same: ours) ? .agreed(own) : .disagreed(ours: ours, theirs: own)
        }
        guard let group = ours.group, let other = first.group, group != other else {
            return first.says(same: ours) ? .agreed(first) : .disagreed(ours: ours, theirs: first)
        }
        guard first.name == ours.name else { return .disagreed(ours: ours, theirs: first) }
        return ours.isImplied ? .agreed(first) : .unwritten(ours, isFirst: false)
    }

    /// The record that a process writes about its hub; `nil` if the topic has it.
    ///
    /// - Parameter former: what the topic said before this reading of it. The topic may have been deleted since.
    func missing(_ ours: HubEnvironment?, former: HubEnvironments) -> ControlRecord? {
        guard let ours else { return nil }
        guard !ours.isImplied else {
            guard first == nil, case .agreed(let found) = former.agreement(with: ours), found == former.first else {
                return nil
            }
            return .environment(found)
        }
        switch agreement(with: ours) {
        case .unwritten(let environment, let isFirst): return .environment(environment, isFirst: isFirst)
        // An older version has not named its group, so another group would seem to disagree.
        case .agreed(let found) where found == first && (found.isImplied || (found.group == nil && ours.group != nil)):
            return .environment(ours)
        case .agreed, .unnamed, .disagreed: return nil
        }
    }
}

/// The environment in the settings, compared with the control topic. A process whose settings disagree does not start.
public enum EnvironmentAgreement: Sendable, Hashable {
    /// Neither the settings nor the topic name an environment.
    case unnamed
    /// The topic names no environment for the hub yet. `newswire topics --create` or the first process that starts writes it.
    case unwritten(HubEnvironment, isFirst: Bool)
    case agreed(HubEnvironment)
    case disagreed(ours: HubEnvironment?, theirs: HubEnvironment)
}
