public import NotificationHub

/// The behaviour of one emulated hub. The defaults are a Standard hub without a rate limit.
public struct HubSettings: Sendable {
    public var name: HubName
    /// The access rules. Their names are unique.
    public var rules: [AccessRule]
    /// The rules of the namespace, which apply to all its hubs.
    public var namespaceRules: [AccessRule] = []
    public var tier = Tier.standard
    public var era = APIEra.year2023
    /// Sends accepted per minute; `nil` for no limit. `Tier.sendsPerMinute` has the figures that users report.
    public var sendsPerMinute: Int?
    /// Seconds for which a token is accepted after its expiry.
    public var clockSkewSeconds: Int64 = 0
    /// The most tags on one registration or installation. Documented as 60.
    public var tagsPerRegistrationMax = 60
    /// Refuses tags that name a user or the testers from clients with the Listen right alone. The service accepts them.
    public var protectsTags = false
    /// The most registrations; further ones are refused as over quota.
    public var registrationsMax = 10_000_000
    /// Received sends kept for inspection and telemetry: the most sends, and the largest sum of their bodies in bytes.
    public var messagesKept = 20_000
    public var messageBytesKept = 64 * 1024 * 1024
    /// Deliveries to simulated devices kept for inspection.
    public var deliveriesKept = 50_000
    /// The delay in milliseconds until a changed installation affects routing. The service queues such changes.
    public var installationLagMilliseconds: Int64 = 0
    public var telemetry = TelemetryTimes()
    /// The most accepted sends with pending deliveries, and the largest sum of their bodies in bytes. Beyond either
    /// limit the hub answers that it is busy.
    public var pendingMax = 100_000
    public var pendingBytesMax = 128 * 1024 * 1024
    /// The key that signs addresses of the namespace's storage.
    var storageKey = AccessKey("")
    /// Records changes for `takeChanges()`, which must then be called regularly.
    public var recordsChanges = false
    /// Determines ids, faults with a share, and the devices chosen by a test send.
    public var seed: UInt64

    /// The default rule for apps: Listen.
    public static let listenRuleName = "DefaultListenSharedAccessSignature"
    /// The default rule for back ends: Listen, Send, Manage.
    public static let fullRuleName = "DefaultFullSharedAccessSignature"

    /// The two default rules, with new keys.
    public static func defaultRules(_ makeKey: () -> AccessKey) -> [AccessRule] {
        [(listenRuleName, AccessRule.Rights.listen), (fullRuleName, .all)].map { name, rights in
            AccessRule(name: name, primaryKey: makeKey(), secondaryKey: makeKey(), rights: rights)
        }
    }

    public init(name: HubName, rules: [AccessRule], seed: UInt64) {
        self.name = name
        self.rules = rules
        self.seed = seed
    }

    /// All problems of these settings, as sentences; empty when they can be used.
    public var problems: [String] {
        var problems: [String] = []
        if rules.isEmpty { problems.append("There must be an access rule; otherwise no client can call the hub.") }
        if EmulatedNamespace.reserves(name) {
            problems.append(
                "The hub's name must not begin with '\(EmulatedNamespace.ownPrefix)': such names are the emulator's own. "
                    + "Choose another, such as breaking-news.")
        }
        for (index, rule) in (rules + namespaceRules).enumerated() {
            if rules.prefix(index).contains(where: { $0.name == rule.name }) {
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

/// The delays of telemetry, by default 0. The service needs seconds to minutes and never reports some sends.
public struct TelemetryTimes: Sendable, Hashable {
    /// Milliseconds after the send during which the answer is 404.
    public var hiddenMilliseconds: Int64 = 0
    /// Milliseconds after that during which the state is Enqueued.
    public var enqueuedMilliseconds: Int64 = 0
    /// Milliseconds after that during which the state is Processing and the counts grow.
    public var processingMilliseconds: Int64 = 0
    /// The share of sends whose answer is always 404, in millionths. A seed selects them, so it is the same sends each
    /// time.
    public var missingMillionths: UInt64 = 0

    public init() {}
}

/// The year of the recorded answers that the emulator follows. It matters where the service's answers have changed:
/// ids, entries, errors, headers and the status for a missing right.
public enum APIEra: String, Sendable, Hashable, CaseIterable {
    /// Back ends that call themselves `Microsoft-HTTPAPI/2.0`, recorded from 2018 to 2020.
    case year2018 = "2018"
    /// Back ends that call themselves `Kestrel`, recorded in 2022 and 2023.
    case year2023 = "2023"
}

/// The pricing tier of a namespace, which limits its hubs.
public enum Tier: String, Sendable, Hashable, CaseIterable {
    case free, basic, standard

    /// The most active devices in a namespace.
    public var devicesMax: Int {
        switch self {
        case .free: 500
        case .basic: 200_000
        case .standard: 10_000_000
        }
    }

    /// True for Standard, the only tier with a send's `Location` header, telemetry, scheduled sends and jobs.
    var hasTelemetry: Bool { self == .standard }
    var hasBatch: Bool { self != .free }
}
