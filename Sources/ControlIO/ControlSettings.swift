public import EditorialControl

/// Settings for following editors' orders.
public struct ControlSettings: Sendable, Hashable {
    public var topics: ControlTopics
    /// Duration of silence on the control topic that raises an alarm.
    public var staleAfter = Duration.seconds(60)
    public var onStale = ControlState.OnStale.continue
    /// The acts that need a second person. Commands and dashboards of these settings ask for one.
    public var approval = ApprovalRules()
    /// The hub and the environment it serves; `nil` if the settings have no environment.
    public var environment: HubEnvironment?

    public init(topics: ControlTopics = ControlTopics(), environment: HubEnvironment? = nil) {
        self.topics = topics
        self.environment = environment
    }

    /// - Parameter replica: the name of the process; `nil` for a process that only reads.
    public func stateSettings(replica: String?, shards: Int) -> ControlState.Settings {
        var settings = ControlState.Settings(replica: replica, shards: shards, environment: environment)
        settings.heldTopic = topics.held
        settings.staleAfter = staleAfter
        settings.onStale = onStale
        settings.asksHubForTime = replica != nil
        return settings
    }
}

/// The topics of editors' orders, of the audit lines about them, and of held events.
public struct ControlTopics: Sendable, Hashable {
    /// Compacted, with one partition.
    public var control: String
    public var audit: String
    /// Compacted, with as many partitions as the results topic.
    public var held: String

    public init(control: String = "news.control", audit: String = "news.audit", held: String = "news.held") {
        self.control = control
        self.audit = audit
        self.held = held
    }
}
