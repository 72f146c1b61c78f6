import ByteText
public import NotificationHub

/// A namespace as a value: its hubs, and the calls that create, list and delete them. Time is an argument.
///
/// The first hub is the one with which the server was started. Inspection and the page show it, and it cannot be
/// deleted.
public struct EmulatedNamespace: Sendable {
    /// The most hubs, as in Azure.
    public static let hubsMax = 100
    /// The prefix of names that the emulator reserves for its own addresses.
    static let ownPrefix = "_"

    /// True for a reserved name, which no hub may have.
    public static func reserves(_ name: HubName) -> Bool { name.text.hasPrefix(ownPrefix) }

    /// The default rule of a namespace: all rights on all hubs.
    public static let ruleName = "RootManageSharedAccessKey"

    /// The hubs; never empty.
    var hubs: [EmulatedHub]
    /// The hub that answers calls to the namespace itself.
    var itself: EmulatedHub
    var changes: [NamespaceChange] = []
    var blobs = BlobStore()
    let storageKey: AccessKey
    /// The id of feeds. Each feed and each entry also gets a number.
    let feedID: String
    var feedNumber = 0
    let settings: HubSettings
    let makeKey: @Sendable () -> AccessKey

    /// - Parameters:
    ///   - first: the first hub. Later hubs get the same settings with lower limits.
    ///   - description: the first hub's description.
    ///   - makeKey: makes the keys of new hubs. They are secrets, so they must not come from a seed.
    public init(first: EmulatedHub, _ description: HubDescription, makeKey: @escaping @Sendable () -> AccessKey) {
        var settings = first.settings
        storageKey = makeKey()
        settings.storageKey = storageKey
        self.settings = settings
        self.makeKey = makeKey
        var own = settings
        (own.rules, own.seed) = ([], own.seed &+ 1)
        // No hub can have this name, so no paths below it exist.
        if let name = try? HubName(Self.ownPrefix) { own.name = name }
        itself = EmulatedHub(settings: own)
        feedID = itself.trackingID()
        hubs = [first]
        hubs[0].join(description, storageKey: storageKey)
    }

    // MARK: Hubs

    /// The hub with this name, names compared without regard to case.
    func index(of name: some StringProtocol) -> Int? {
        hubs.firstIndex { $0.settings.name.text.equalsIgnoringASCIICase(name) }
    }

    public func hasHub(_ name: HubName) -> Bool { index(of: name.text) != nil }

    public var hubNames: [HubName] { hubs.map(\.settings.name) }

    /// Gives access to the first hub.
    public mutating func withFirst<Result>(_ body: (inout EmulatedHub) -> Result) -> Result {
        body(&hubs[0])
    }

    /// Gives access to the hub with this name; `nil` if it does not exist.
    public mutating func withHub<Result>(_ name: HubName, _ body: (inout EmulatedHub) -> Result) -> Result? {
        index(of: name.text).map { body(&hubs[$0]) }
    }

    /// Adds a hub with the rules of its description.
    /// - Returns: false if the namespace is full or the name exists. In this case nothing is added.
    @discardableResult
    public mutating func addHub(_ name: HubName, _ description: HubDescription) -> Bool {
        guard hubs.count < Self.hubsMax, index(of: name.text) == nil else { return false }
        var own = settings
        own.name = name
        own.seed = itself.random.next()
        // The limits keep a hundred hubs from taking a hundred times the memory.
        own.registrationsMax = min(own.registrationsMax, 100_000)
        own.messagesKept = min(own.messagesKept, 1000)
        own.deliveriesKept = min(own.deliveriesKept, 1000)
        own.messageBytesKept = min(own.messageBytesKept, 2 * 1024 * 1024)
        own.pendingMax = min(own.pendingMax, 1000)
        var hub = EmulatedHub(settings: own)
        hub.description = description
        hubs.append(hub)
        return true
    }

    // MARK: Calls

    /// True for a request that is not for the page: it carries a token or asks for Atom.
    public static func isAddressed(by request: HubHTTPRequest) -> Bool {
        request.headers["Authorization"] != nil || request.headers["Accept"]?.lowercased().contains("atom") == true
    }

    /// Carries out a request and returns the answer.
    public mutating func handle(_ request: HubHTTPRequest, at now: HubTime) -> HubHTTPResponse {
        let target = RequestTarget(request.target)
        if target == nil, StorageAddress.isMeant(by: request.target) { return answer(nil, request, at: now) }
        if let address = target.flatMap(StorageAddress.init) { return answer(address, request, at: now) }
        if let target, let call = NamespaceCall(target) {
            return answer(call, CallContext(request: request, target: target, now: now))
        }
        if let index = target?.segments.first.flatMap({ index(of: $0) }) {
            return hubs[index].handle(request, target, at: now)
        }
        // No such hub exists. The first hub answers, and tells only clients that are authorised.
        return withFirst { $0.handle(request, target, at: now) }
    }

    // MARK: Deliveries

    /// True when `deliver` has something to do now.
    public func hasWork(at now: HubTime) -> Bool { hubs.contains { $0.hasJob || $0.hasWork(at: now) } }

    /// The time at which the next scheduled send or delayed installation is due.
    public var wakeAt: HubTime? { hubs.lazy.compactMap(\.wakeAt).min() }

    /// Continues the deliveries and jobs of each hub; see `EmulatedHub.deliver`. Each hub numbers its own deliveries.
    public mutating func deliver(
        limit: Int, at now: HubTime
    ) -> [(hub: HubName, deliveries: [PushedNotification])] {
        var done: [(hub: HubName, deliveries: [PushedNotification])] = []
        for index in hubs.indices where hubs[index].hasWork(at: now) {
            done.append((hubs[index].settings.name, hubs[index].deliver(limit: limit, at: now)))
        }
        // Only one job runs at a time, because each holds its whole output in memory.
        if let index = hubs.firstIndex(where: \.isRunningJob) ?? hubs.firstIndex(where: \.hasJob) {
            runJob(of: index, limit: limit, at: now)
        }
        return done
    }

    private mutating func runJob(of index: Int, limit: Int, at now: HubTime) {
        let grant = { [storageKey] (url: String, permission: Character) -> StorageAddress? in
            guard let address = StorageAddress(url: url), address.container == Self.jobsContainer,
                let grant = StorageGrant(address, key: storageKey, at: now), grant.permissions.contains(permission)
            else { return nil }
            return address
        }
        let files = hubs[index].runJob(
            limit: limit, at: now, read: { [blobs] url in grant(url, "r")?.blob.flatMap { blobs[$0] }?.bytes },
            mayWrite: { grant($0, "w") != nil })
        for file in files where !blobs.put(file.bytes, contentType: "text/plain", as: file.name, at: now) {
            hubs[index].failJob(writing: file.name, at: now)
        }
    }

    // MARK: Storage

    /// Returns the changes since the last call. Empty unless the first hub's settings have `recordsChanges` set.
    public mutating func takeChanges() -> [NamespaceChange] {
        for index in hubs.indices {
            let name = hubs[index].settings.name
            changes += hubs[index].takeChanges().map { NamespaceChange(hub: name, change: $0) }
        }
        defer { changes = [] }
        return changes
    }

    mutating func record(_ change: HubChange, of hub: HubName) {
        if settings.recordsChanges { changes.append(NamespaceChange(hub: hub, change: change)) }
    }
}

/// A change of one hub that a store should keep.
public struct NamespaceChange: Sendable {
    public var hub: HubName
    public var change: HubChange
}

extension EmulatedNamespace {
    /// The descriptions that a store keeps: of each hub and, under `nil`, of the namespace.
    public var descriptions: [(hub: HubName?, description: HubDescription)] {
        [(nil, HubDescription(rules: settings.namespaceRules, at: HubTime(milliseconds: 0)))]
            + hubs.map { ($0.settings.name, $0.description) }
    }
}
