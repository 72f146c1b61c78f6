import ByteText
import CRdkafka
import KafkaModel
import NewsModel

/// Finds the first and last offsets of results partitions individually, so that a partition without a leader fails at once and
/// alone.
struct LedgerLocator {
    private let consumer: AssignedConsumer

    init(_ consumer: AssignedConsumer) { self.consumer = consumer }

    typealias Answer = Result<LedgerState.Location, KafkaFailure>

    func locate(_ requests: [LedgerState.Request]) -> [(TopicPartition, Answer)] {
        var failures: [TopicPartition: KafkaFailure] = [:]
        var locations: [TopicPartition: LedgerState.Location] = [:]
        do throws(KafkaFailure) {
            let topics = try consumer.topics()
            for request in requests { failures[request.results] = Self.unserved(request.results, topics) }
            let served = requests.filter { failures[$0.results] == nil }
            let group = try readCommitted(served, &failures)
            let committed = group.offsets
            let undated = served.filter { committed[$0.results] == nil && failures[$0.results] == nil }
            let times = readTimes(undated, &failures)
            let open = served.filter { failures[$0.results] == nil }
            // Grouped by leader, so that an unresponsive leader costs one timeout for all its partitions.
            for (_, led) in Dictionary(
                grouping: open, by: { topics[$0.results.topic]?.leader(of: $0.results.partition) })
            {
                do throws(KafkaFailure) {
                    let ranges = try consumer.ranges(led.map(\.results))
                    for request in led {
                        guard let kept = ranges[request.results] else { continue }
                        locations[request.results] = LedgerState.Location(
                            committed: committed[request.results],
                            watermarks: committed.filter { request.sources.contains($0.key) },
                            uncommitted: group.none.intersection(request.sources),
                            notes: group.metadata.filter { request.sources.contains($0.key) }, kept: kept,
                            since: times[request.results], at: ServiceClock.wall)
                    }
                } catch {
                    for request in led { failures[request.results] = error }
                }
            }
        } catch {
            for request in requests where failures[request.results] == nil { failures[request.results] = error }
        }
        return requests.map { request in
            if let failure = failures[request.results] { return (request.results, .failure(failure)) }
            guard let location = locations[request.results] else {
                return (request.results, .failure(Self.unknownOffsets(request.results)))
            }
            return (request.results, .success(location))
        }
    }

    private static func unknownOffsets(_ results: TopicPartition) -> KafkaFailure {
        KafkaFailure(
            code: "_TIMED_OUT", isRetriable: true, detail: "The offsets of \(results) could not be read",
            remedy: "Check that its leader is there; reading continues without any action.")
    }

    /// Returns the reason why a results partition cannot be read, according to the cluster's metadata.
    static func unserved(_ results: TopicPartition, _ topics: [String: TopicDescription]) -> KafkaFailure? {
        guard let topic = topics[results.topic] else {
            return KafkaFailure(
                code: "UNKNOWN_TOPIC_OR_PART", isRetriable: true,
                detail: "Results topic \(results.topic) \(TopicRules.isMissing)",
                remedy: "Run `newswire topics --create --config FILE`, or grant this user DESCRIBE on it.")
        }
        guard results.partition < topic.count else {
            return KafkaFailure(
                code: "_RESULTS_TOO_FEW", isRetriable: true,
                detail:
                    "Results topic \(results.topic) has \(counted(topic.count, "partition")), partition \(results.partition) has none",
                remedy: "Run `newswire topics --create --config FILE`, which widens it.")
        }
        guard topic.leader(of: results.partition) == nil else { return nil }
        return KafkaFailure(
            code: "LEADER_NOT_AVAILABLE", isRetriable: true, detail: "\(results) has no leader",
            remedy: "Start the broker that leads it; reading continues without any action.")
    }

    private struct Committed {
        var offsets: [TopicPartition: Int64] = [:]
        var metadata: [TopicPartition: String] = [:]
        /// Partitions without a committed offset.
        var none: Set<TopicPartition> = []
    }

    /// Reads L and W of all requests in one call, with the metadata of W. If W cannot be read, entries stay open, which is safe.
    private func readCommitted(
        _ requests: [LedgerState.Request], _ failures: inout [TopicPartition: KafkaFailure]
    ) throws(KafkaFailure) -> Committed {
        let partitions = Set(requests.flatMap { [$0.results] + $0.sources })
        var group = Committed()
        for element in try consumer.committedEach(partitions.sorted()) {
            if element.error != RD_KAFKA_RESP_ERR_NO_ERROR {
                let action = "The group's committed offset of \(element.partition) could not be read"
                if requests.contains(where: { $0.results == element.partition }) {
                    failures[element.partition] = KafkaFailure(element.error, during: action)
                }
            } else if element.offset >= 0 {
                group.offsets[element.partition] = element.offset
                if !element.metadata.isEmpty { group.metadata[element.partition] = element.metadata }
            } else {
                group.none.insert(element.partition)
            }
        }
        return group
    }

    /// Finds offsets by time. Partitions without a time are absent; their newest results are read.
    private func readTimes(
        _ requests: [LedgerState.Request], _ failures: inout [TopicPartition: KafkaFailure]
    ) -> [TopicPartition: Int64] {
        var times: [TopicPartition: Int64] = [:]
        for since in Set(requests.compactMap(\.since)) {
            let partitions = requests.filter { $0.since == since }.map(\.results)
            do throws(KafkaFailure) {
                times.merge(try consumer.offsets(for: since, partitions)) { $1 }
            } catch {
                // Read from too late an offset, the ledger would not show what was sent.
                for partition in partitions { failures[partition] = error }
            }
        }
        return times
    }
}
