public import EditorialControl

/// How a process follows editors' orders.
public struct ControlSettings: Sendable, Hashable {
    public var topics: ControlTopics
    /// Silence of the control topic that raises an alarm.
    public var staleAfter = Duration.seconds(60)
    public var onStale = ControlDesk.OnStale.continue
    /// The hub and what it serves; `nil` without an environment in the settings.
    public var environment: HubEnvironment?

    public init(topics: ControlTopics = ControlTopics(), environment: HubEnvironment? = nil) {
        self.topics = topics
        self.environment = environment
    }

    /// - Parameter replica: names the process; `nil` for one that only reads.
    public func desk(replica: String?, shards: Int) -> ControlDesk.Settings {
        var desk = ControlDesk.Settings(replica: replica, shards: shards, environment: environment)
        desk.staleAfter = staleAfter
        desk.onStale = onStale
        desk.asksHubForTime = replica != nil
        return desk
    }
}
