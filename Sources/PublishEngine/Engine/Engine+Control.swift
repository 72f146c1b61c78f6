import KafkaModel

/// An operator's new settings.
extension Engine {
    mutating func reload(_ reload: Reload, _ turn: Turn) {
        follow(reload.rules)
        for lane in lanes.ids { lanes[lane].guardAgainstFlood(reload.floodGuard) }
        // A new bucket starts empty: an unchanged rate keeps the one it has.
        guard rate != reload.rate else { return }
        rate = reload.rate
        resetBucket(turn)
    }
}

/// Settings that may change while an engine runs.
public struct Reload: Sendable {
    /// The new rate; `nil` for unlimited.
    public var rate: EngineSettings.Rate?
    /// Covers the same platforms as before. Records read but not examined get these rules; all others keep theirs.
    public var rules: ContentRules
    /// Settings that differ from those in force restart the count, and so end a flood.
    public var floodGuard: FloodGuard.Settings

    public init(rate: EngineSettings.Rate?, rules: ContentRules, floodGuard: FloodGuard.Settings) {
        self.rate = rate
        self.rules = rules
        self.floodGuard = floodGuard
    }
}
