import KafkaModel
import NewsModel

/// An editor's or operator's orders: recalls and new settings.
extension Engine {
    /// On this shard and the process's others.
    mutating func recallEverywhere(_ orderKey: String, _ turn: inout Turn) {
        if recall(orderKey, &turn) { turn.actions.append(.recall(story: orderKey)) }
    }

    /// Nothing of the story leaves any more, in any lane; the same holds for records still to come.
    ///
    /// - Returns: `false` if the story was recalled before.
    @discardableResult
    mutating func recall(_ orderKey: String, _ turn: inout Turn) -> Bool {
        let isNew = recalled.insert(orderKey)
        for platform in settings.platforms.indices {
            for lane in lanes.ids {
                for id in openDeliveries(of: StoryID(orderKey, platform: platform, lane: lane))
                where partitions.event(of: id)?.event.orderKey == orderKey {
                    withdraw(id, for: .recalled, &turn)
                }
            }
        }
        advanceStories(&turn)
        return isNew
    }

    mutating func reload(_ reload: Reload, _ turn: Turn) {
        rules = reload.rules
        for lane in lanes.ids { lanes[lane].guardAgainstFlood(reload.floodGuard) }
        // A new bucket starts empty: an unchanged rate keeps the one it has.
        guard rate != reload.rate else { return }
        rate = reload.rate
        resetBucket(turn)
    }
}

/// Settings that may change while an engine runs.
public struct Reload: Sendable {
    /// `nil` for unlimited.
    public var rate: EngineSettings.Rate?
    /// For the same platforms as before. Records read and not yet examined get these rules, all others keep theirs.
    public var rules: ContentRules
    /// Other settings than those in force begin to count anew, and so end a flood.
    public var floodGuard: FloodGuard.Settings

    public init(rate: EngineSettings.Rate?, rules: ContentRules, floodGuard: FloodGuard.Settings) {
        self.rate = rate
        self.rules = rules
        self.floodGuard = floodGuard
    }
}
