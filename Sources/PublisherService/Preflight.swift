import KafkaIO
import KafkaModel
import NewsModel
import PublishEngine

/// What must hold before a publisher starts, and what it learns on the way. Blocks: call it on a thread that may wait.
struct Preflight {
    /// Partitions of all topics of each lane.
    var lanePartitions: [Int] = []
    /// What stands on the topics now: the end of every partition that the lane's group has not committed up to.
    var ends: [TopicPartition: Int64] = [:]
    /// What an operator should know, although the publisher can start.
    var warnings: [String] = []

    init(_ settings: PublisherSettings, measuringEnds: Bool) throws(PublisherFailure) {
        do {
            let admin = try KafkaAdmin(settings: settings.kafka)
            let counts = try admin.partitionCounts()
            let problems = Self.problems(settings, counts: counts)
            guard problems.isEmpty else { throw PublisherFailure.topics(problems) }
            if counts[settings.deadLetterTopic] == nil {
                // Many brokers make a topic when it is first written to. Where they do not, the first dead letter
                // stops the publisher, with nothing lost.
                warnings.append(
                    "dead-letter topic \(settings.deadLetterTopic) does not exist yet; "
                        + "create it with `newswire topics --config FILE --create`")
            }
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

    /// Missing topics, and partition counts that break the ledger: the result of a record from partition p stands in
    /// partition p of the results topic, and partition p of all topics of a lane must be read by one member.
    static func problems(_ settings: PublisherSettings, counts: [String: Int]) -> [String] {
        let results = settings.engine.resultsTopic
        var problems: [String] = []
        let wanted = settings.engine.lanes.flatMap(\.topics) + [results]
        for topic in wanted where counts[topic] == nil {
            problems.append("topic \(topic) does not exist; create it with `newswire topics --config FILE --create`")
        }
        for lane in settings.engine.lanes {
            let known = lane.topics.compactMap { topic in counts[topic].map { (topic, $0) } }
            if let (first, count) = known.first, let (other, odd) = known.first(where: { $0.1 != count }) {
                problems.append(
                    "lane \(lane.name): \(first) has \(count) partitions and \(other) has \(odd); they must have as many"
                )
            }
            if let most = known.max(by: { $0.1 < $1.1 }), let have = counts[results], have < most.1 {
                problems.append(
                    "results topic \(results) has \(have) partitions, \(most.0) has \(most.1); it needs at least as many"
                )
            }
        }
        return problems
    }

    private mutating func measure(
        _ index: Int, _ lane: LaneSettings, _ settings: PublisherSettings, _ counts: [String: Int],
        _ admin: KafkaAdmin
    ) throws(KafkaFailure) {
        let partitions = lane.topics.flatMap { topic in
            (0..<Int32(counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
        }
        let committed = try admin.committed(
            group: settings.kafka.consumerGroup(lane: index, named: lane.name), partitions)
        for partition in partitions {
            let kept = try admin.watermarks(partition)
            let next = max(committed[partition] ?? kept.lowerBound, kept.lowerBound)
            if next < kept.upperBound { ends[partition] = kept.upperBound }
        }
    }
}
