package import ControlIO
import EditorialControl
import KafkaIO
package import KafkaModel
import NewsModel
package import PublishEngine

/// Checks the conditions for starting a publisher and keeps the values it has read. Blocks the calling thread.
struct Preflight {
    /// The number of partitions of each lane's topics.
    var lanePartitions: [Int] = []
    /// The end offset of every partition that the lane's group has not fully committed. If all uncommitted records were removed,
    /// the partition is included, so that the run commits its end.
    var ends: [TopicPartition: Int64] = [:]
    /// The upper bound of the records that were removed before a lane's group read them. Measured together with `ends`.
    var removedUnread: UInt64 = 0
    /// The existing topics with their settings.
    private(set) var states: [String: TopicState] = [:]
    /// Problems that do not prevent a start.
    private(set) var findings: [TopicRules.Finding] = []

    init(_ settings: PublisherSettings, measuringEnds: Bool) throws(PublisherFailure) {
        do {
            // A long-running process reports missing brokers soon. A job that measures gives slow brokers more time.
            let admin = try KafkaAdmin(settings: settings.kafka, timeout: .seconds(measuringEnds ? 10 : 5))
            let rules = settings.topicRules
            states = try admin.states(of: rules.topics.map(\.name))
            findings = rules.findings(states)
            // A job with an end would wait for a missing lane for ever.
            let problems = findings.filter {
                $0.severity == .refuse || measuringEnds && $0.problem == .missing && $0.severity != .warning
            }
            guard problems.isEmpty else { throw PublisherFailure.topics(problems) }
            // The publisher serves the available partitions. The status lists the others.
            let counts = states.mapValues(\.partitions)
            for (index, lane) in settings.engine.lanes.enumerated() {
                lanePartitions.append(lane.topics.reduce(0) { $0 + (counts[$1] ?? 0) })
                if measuringEnds { try measure(index, lane, settings, counts, admin) }
            }
        } catch let failure as KafkaFailure {
            throw .kafka(failure)
        } catch let failure as PublisherFailure {
            throw failure
        } catch {
            throw .settings("\(error)")
        }
    }

    private mutating func measure(
        _ index: Int, _ lane: LaneSettings, _ settings: PublisherSettings, _ counts: [String: Int], _ admin: KafkaAdmin
    ) throws(KafkaFailure) {
        let partitions = lane.topics.flatMap { topic in
            (0..<Int32(counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let committed = try admin.committed(
            group: settings.kafka.consumerGroup(lane: index, named: lane.name), partitions)
        for partition in partitions {
            let kept = try admin.watermarks(partition)
            let next = committed[partition] ?? kept.lowerBound
            if next < kept.lowerBound { removedUnread += UInt64(kept.lowerBound - max(next, 0)) }
            if next < kept.upperBound { ends[partition] = kept.upperBound }
        }
    }
}

extension PublisherSettings {
    var topicRules: TopicRules {
        var rules = TopicRules(engine, deadLetterTopic: deadLetterTopic)
        rules.follow(control)
        return rules
    }
}

extension TopicRules {
    /// Adds the topics for editorial control.
    package mutating func follow(_ control: ControlSettings) {
        controlTopic = control.topics.control
        auditTopic = control.topics.audit
        heldTopic = control.topics.held
        needsControl = control.onStale == .stop
    }

    /// Makes the rules for the topics of an engine with these settings.
    package init(_ engine: EngineSettings, deadLetterTopic: String) {
        self.init(
            lanes: engine.lanes.map { .init(name: $0.name, topics: $0.topics, maxAge: $0.maxAge) },
            resultsTopic: engine.resultsTopic, deadLetterTopic: deadLetterTopic)
    }
}
