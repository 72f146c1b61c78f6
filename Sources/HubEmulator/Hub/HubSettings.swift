public import NotificationHub

/// How one emulated hub behaves. The defaults are a Standard hub without a rate limit.
public struct HubSettings: Sendable {
    public var name: HubName
    /// Who may call. Names are unique.
    public var rules: [AccessRule]
    public var tier = Tier.standard
    /// Sends answered with success in a minute; `nil` for no limit. `Tier.sendsPerMinute` is what users report.
    public var sendsPerMinute: Int?
    /// How long after its end a token is still taken, in seconds.
    public var clockSkewSeconds: Int64 = 0
    /// Tags on one registration or installation. Documented as 60.
    public var tagsPerRegistrationMax = 60
    /// Registrations held at most; more are refused as over quota.
    public var registrationsMax = 10_000_000
    /// Received sends kept for inspection and telemetry: their number, and the sum of their bodies in bytes.
    public var messagesKept = 20_000
    public var messageBytesKept = 64 * 1024 * 1024
    /// Deliveries to simulated devices kept for inspection.
    public var deliveriesKept = 50_000
    /// How long an installation's change takes to reach routing, in milliseconds. The service queues such changes.
    public var installationLagMilliseconds: Int64 = 0
    /// Sends accepted whose deliveries are still to be made, at most; beyond that the hub says that it is busy.
    public var pendingMax = 100_000
    /// Whether changes are kept for `takeChanges()`, which must then be called now and again.
    public var recordsChanges = false
    /// The hub's chance: ids, faults by share, the choice of devices of a test send.
    public var seed: UInt64

    /// The rule that every hub is made with for its apps: Listen.
    public static let listenRuleName = "DefaultListenSharedAccessSignature"
    /// The rule that every hub is made with for its back end: Listen, Send, Manage.
    public static let fullRuleName = "DefaultFullSharedAccessSignature"

    public init(name: HubName, rules: [AccessRule], seed: UInt64) {
        self.name = name
        self.rules = rules
        self.seed = seed
    }

    /// Everything wrong with these settings, in sentences; empty when they can be used.
    public var problems: [String] {
        var problems: [String] = []
        if rules.isEmpty { problems.append("There must be an access rule, or nobody can call the hub.") }
        for (index, rule) in rules.enumerated() {
            if rules[..<index].contains(where: { $0.name == rule.name }) {
                problems.append("The access rule \(rule.name) is named twice.")
            }
            if rule.name.isEmpty || rule.name.utf8.count > ConnectionString.keyNameLengthMax
                || rule.primaryKey.revealed.isEmpty
            {
                problems.append("An access rule needs a name of at most 256 characters and a key.")
            }
        }
        if let sendsPerMinute, sendsPerMinute < 1 { problems.append("The limit of sends a minute must be at least 1.") }
        return problems
    }
}

/// What a namespace pays for, and so what its hubs may do.
public enum Tier: String, Sendable, Hashable, CaseIterable {
    case free, basic, standard

    /// Sends a minute that users report for the service; Microsoft documents none.
    public var sendsPerMinute: Int {
        switch self {
        case .free: 100
        case .basic: 900
        case .standard: 11_500
        }
    }

    /// Active devices in a namespace.
    public var devicesMax: Int {
        switch self {
        case .free: 500
        case .basic: 200_000
        case .standard: 10_000_000
        }
    }

    /// The `Location` header of a send, telemetry, scheduled sends and jobs come with Standard only.
    var hasTelemetry: Bool { self == .standard }
    var hasBatch: Bool { self != .free }
}
