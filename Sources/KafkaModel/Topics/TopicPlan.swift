/// The changes that make the topics of a configuration exist and fit; `newswire topics --create` applies them.
public struct TopicPlan: Sendable, Hashable {
    public var rules: TopicRules

    public init(_ rules: TopicRules) { self.rules = rules }

    /// A topic to create, or an existing one to widen.
    public struct Change: Sendable, Hashable {
        public var topic: String
        public var use: TopicRules.Use
        /// Its present count; `nil` if it is to be created.
        public var from: Int?
        public var partitions: Int
        /// Settings of a topic to create; those of an existing one stay as they are.
        public var configuration: [String: String] = [:]
    }

    /// The changes. A lane's topics get the count of its widest (`partitions` in a new lane), results and dead letters
    /// the widest of all. No topic gets smaller.
    public func changes(_ states: [String: TopicState], partitions: Int) -> [Change] {
        var wanted: [String: Int] = [:]
        for lane in rules.lanes {
            let count = rules.widest(of: lane.topics, states)?.partitions ?? partitions
            for topic in lane.topics { wanted[topic] = count }
        }
        let most = wanted.values.max() ?? partitions
        return rules.topics.compactMap { name, use in
            let count = use == .control || use == .audit ? 1 : wanted[name] ?? most
            guard let state = states[name] else {
                return Change(topic: name, use: use, partitions: count, configuration: settings(for: use, states))
            }
            // Feeds are distributed by the state topic's first partition count.
            let isWide = state.partitions >= count || use == .deadLetters || use == .feedState
            return isWide ? nil : Change(topic: name, use: use, from: state.partitions, partitions: count)
        }
    }

    private func settings(for use: TopicRules.Use, _ states: [String: TopicState]) -> [String: String] {
        var settings = settings(for: use)
        // An event is held with its own headers and some of ours.
        let largest = rules.lanes.flatMap(\.topics).compactMap { states[$0]?.configuration.messageBytes }.max()
        if use == .held, let largest, largest > Self.usualMessageBytes {
            settings["max.message.bytes"] = String(largest.saturating(adding: 16 << 10))
        }
        return settings
    }

    /// Kafka's default for `max.message.bytes`.
    private static let usualMessageBytes = 1_048_588

    /// The settings of topics that we create.
    public func settings(for use: TopicRules.Use) -> [String: String] {
        if use == .control {
            // Tombstones outlive the recalls: after a week's absence a process still reads that a recall was lifted.
            return [
                "cleanup.policy": "compact", "delete.retention.ms": String(Duration.days(8).wholeMilliseconds),
                "min.cleanable.dirty.ratio": "0.2", "segment.bytes": String(64 << 20), "segment.ms": "86400000",
            ]
        }
        if use == .held {
            // A version that a tombstone overtook is rewritten before compaction could remove it.
            return [
                "cleanup.policy": "compact", "min.compaction.lag.ms": "86400000", "min.cleanable.dirty.ratio": "0.2",
                "segment.bytes": String(64 << 20), "segment.ms": "86400000",
            ]
        }
        if use == .feedState {
            // Small segments and an eager cleaner, because a new owner reads a partition from its beginning. The last
            // hour stays readable for people.
            return [
                "cleanup.policy": "compact", "min.compaction.lag.ms": "3600000", "min.cleanable.dirty.ratio": "0.2",
                "segment.bytes": String(64 << 20), "segment.ms": "86400000",
            ]
        }
        let kept =
            switch use {
            case .source(let lane): max(.days(7), rules.lanes.first { $0.name == lane }?.maxAge ?? .zero)
            case .results: max(.days(14), rules.longestOpen)
            case .audit: Duration.days(400)
            case .deadLetters, .feedState, .control, .held, .telemetry: Duration.days(30)
            }
        return ["cleanup.policy": "delete", "retention.ms": String(kept.wholeMilliseconds)]
    }
}
