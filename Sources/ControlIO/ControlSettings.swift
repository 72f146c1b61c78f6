public import EditorialControl

/// Settings for following editors' orders.
public struct ControlSettings: Sendable, Hashable {
    public var topics: ControlTopics
    /// Duration of silence on the control topic that raises an alarm.
    public var staleAfter = Duration.seconds(60)
    public var onStale = ControlDesk.OnStale.continue
    /// The hub and the environment it serves; `nil` if the settings have no environment.
    public var environment: HubEnvironment?

    public init(topics: ControlTopics = ControlTopics(), environment: HubEnvironment? = nil) {
        self.topics = topics
        self.environment = environment
    }

    /// - Parameter replica: the name of the process; `nil` for a process that only reads.
    public func desk(replica: String?, shards: Int) -> ControlDesk.Settings {
        var desk = ControlDesk.Settings(replica: replica, shards: shards, environment: environment)
        desk.staleAfter = staleAfter
        desk.onStale = onStale
        desk.asksHubForTime = replica != nil
        return desk
    }
}
