import CRdkafka
import KafkaModel
import NewsModel

/// Finds where results partitions begin and end, each by itself: one that cannot be served fails at once, and alone.
struct LedgerLocator {
    private let consumer: AssignedConsumer

    init(_ consumer: AssignedConsumer) {
        self.consumer = consumer
    }

    typealias Answer = Result<LedgerState.Location, KafkaFailure>

    func locate(_ requests: [LedgerState.Request]) -> [(TopicPartition, Answer)] {
        var failures: [TopicPartition: KafkaFailure] = [:]
        var locations: [TopicPartition: LedgerState.Location] = [:]
        do throws(KafkaFailure) {
            let topics = try consumer.topics()
            for request in requests { failures[request.results] = Self.unserved(request.results, topics) }
            let served = requests.filter { failures[$0.results] == nil }
            let committed = try readCommitted(served, &failures)
            let times = readTimes(served.filter { committed[$0.results] == nil && failures[$0.results] == nil })
            var lostLeaders: [Int32: KafkaFailure] = [:]
            for request in served where failures[request.results] == nil {
                let results = request.results
                let leader = topics[results.topic]?.leader(of: results.partition) ?? -1
                if let lost = lostLeaders[leader] {
                    failures[results] = lost
                    continue
                }
                do throws(KafkaFailure) {
                    locations[results] = LedgerState.Location(
                        committed: committed[results],
                        watermarks: committed.filter { request.sources.contains($0.key) },
                        kept: try consumer.watermarks(results), since: times[results])
                } catch {
                    failures[results] = error
                    // The others of this broker would only wait as long, one after the other.
                    if error.isTimeout { lostLeaders[leader] = error }
                }
            }
        } catch {
            for request in requests where failures[request.results] == nil { failures[request.results] = error }
        }
        return requests.map { request in
            if let failure = failures[request.results] { return (request.results, .failure(failure)) }
            guard let location = locations[request.results] else {
                return (request.results, .failure(.standstill))
            }
            return (request.results, .success(location))
        }
    }

    /// Why a results partition cannot be read, by what the cluster says of its topics.
    static func unserved(_ results: TopicPartition, _ topics: [String: TopicDescription]) -> KafkaFailure? {
        guard let topic = topics[results.topic] else {
            return KafkaFailure(
                code: "UNKNOWN_TOPIC_OR_PART", isRetriable: true,
                detail: "Results topic \(results.topic) does not exist, or this user may not see it",
                remedy: "Run `newswire topics --config FILE --create`, or grant this user DESCRIBE on it.")
        }
        guard results.partition < topic.count else {
            return KafkaFailure(
                code: "_RESULTS_TOO_FEW", isRetriable: true,
                detail:
                    "Results topic \(results.topic) has \(topic.count) partitions, partition \(results.partition) has none",
                remedy: "Run `newswire topics --config FILE --create`, which widens it.")
        }
        guard topic.leader(of: results.partition) == nil else { return nil }
        return KafkaFailure(
            code: "LEADER_NOT_AVAILABLE", isRetriable: true, detail: "\(results) has no leader",
            remedy: "Start the broker that leads it; reading goes on by itself.")
    }

    /// L and W of all requests in one question. W that cannot be read leaves entries open, which is safe.
    private func readCommitted(
        _ requests: [LedgerState.Request], _ failures: inout [TopicPartition: KafkaFailure]
    ) throws(KafkaFailure) -> [TopicPartition: Int64] {
        let partitions = Set(requests.flatMap { [$0.results] + $0.sources })
        var committed: [TopicPartition: Int64] = [:]
        for element in try consumer.committedEach(partitions.sorted()) {
            if element.error != RD_KAFKA_RESP_ERR_NO_ERROR {
                let detail = "The group's committed offset of \(element.partition) could not be read"
                if requests.contains(where: { $0.results == element.partition }) {
                    failures[element.partition] = KafkaFailure(element.error, detail: detail)
                }
            } else if element.offset >= 0 {
                committed[element.partition] = element.offset
            }
        }
        return committed
    }

    /// Where times cannot be found, the newest results are read.
    private func readTimes(_ requests: [LedgerState.Request]) -> [TopicPartition: Int64] {
        var times: [TopicPartition: Int64] = [:]
        for since in Set(requests.compactMap(\.since)) {
            let partitions = requests.filter { $0.since == since }.map(\.results)
            guard let found = try? consumer.offsets(for: since, partitions) else { continue }
            times.merge(found) { $1 }
        }
        return times
    }
}

extension KafkaFailure {
    var isTimeout: Bool { ["_TIMED_OUT", "_TRANSPORT", "_TIMED_OUT_QUEUE", "REQUEST_TIMED_OUT"].contains(code) }
}
