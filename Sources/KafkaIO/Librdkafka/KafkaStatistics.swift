import KafkaModel
import NewsModel

/// librdkafka's statistics (see its STATISTICS.md) that matter to an operator, for one client.
public struct KafkaStatistics: Sendable, Hashable {
    /// Requests to brokers, including those to the group's coordinator.
    public var brokers: [Broker] = []
    /// Records and bytes that wait in the producer, or that were fetched and wait to be read.
    public var queuedRecords: Int64 = 0
    public var queuedBytes: Int64 = 0
    /// Rebalances of the lane's group seen by this member; `nil` for the producer.
    public var rebalances: Int64?

    public struct Broker: Sendable, Hashable {
        public var name: String
        /// Round-trip time of requests in the last interval, in microseconds: median and 99th percentile.
        public var roundTripMedian: Int64 = 0
        public var roundTripP99: Int64 = 0
        /// The longest delay that the broker imposed for a quota in the last interval, in milliseconds.
        public var throttled: Int64 = 0
        /// Requests that wait to be sent, and requests that wait for their answers.
        public var waiting: Int64 = 0
        public var inFlight: Int64 = 0
        /// Numbers since the start: failed or timed-out requests, retries, and lost connections.
        public var errors: Int64 = 0
        public var retries: Int64 = 0
        public var disconnects: Int64 = 0
    }

    /// Limit for the brokers read from statistics. Real clusters have fewer.
    static let brokersMax = 256
}

/// Reads librdkafka's statistics. All calls must be on the same thread.
final class StatisticsReader {
    /// Parser for statistics, which have some hundred bytes per partition.
    private let parser = JSONParser(sizeMax: 16 << 20, depthMax: 16)

    /// - Parameter isConsumer: true counts records fetched ahead; false counts records waiting to be sent.
    /// - Returns: `nil` for anything but a JSON object. Missing or mistyped members count as zero.
    func read(_ json: UnsafeBufferPointer<UInt8>, isConsumer: Bool) -> KafkaStatistics? {
        guard let top = try? parser.object(in: json) else { return nil }
        var statistics = KafkaStatistics()
        for member in top {
            switch member.value {
            case .object(let brokers) where member.name == "brokers":
                for case .object(let broker) in brokers.lazy.map(\.value) { add(broker, to: &statistics) }
            case .object(let group) where member.name == "cgrp": statistics.rebalances = group.number("rebalance_cnt")
            case .object(let topics) where member.name == "topics" && isConsumer: addFetched(topics, to: &statistics)
            case .integer(let count) where member.name == "msg_cnt" && !isConsumer: statistics.queuedRecords = count
            case .integer(let bytes) where member.name == "msg_size" && !isConsumer: statistics.queuedBytes = bytes
            default: break
            }
        }
        return statistics
    }

    private func add(_ members: JSONObject, to statistics: inout KafkaStatistics) {
        let name = members.text("name")
        // Bootstrap and internal addresses are not separate brokers.
        guard members.number("nodeid") ?? -1 >= 0 || name == "GroupCoordinator",
            statistics.brokers.count < KafkaStatistics.brokersMax
        else { return }
        var broker = KafkaStatistics.Broker(name: name)
        if case .object(let window)? = members.value("rtt") {
            broker.roundTripMedian = window.number("p50") ?? 0
            broker.roundTripP99 = window.number("p99") ?? 0
        }
        if case .object(let window)? = members.value("throttle") { broker.throttled = window.number("max") ?? 0 }
        broker.waiting = members.number("outbuf_cnt") ?? 0
        broker.inFlight = members.number("waitresp_cnt") ?? 0
        for name in ["txerrs", "rxerrs", "req_timeouts"] as [StaticString] {
            broker.errors = broker.errors.saturating(adding: members.number(name) ?? 0)
        }
        broker.retries = members.number("txretries") ?? 0
        broker.disconnects = members.number("disconnects") ?? 0
        statistics.brokers.append(broker)
    }

    private func addFetched(_ topics: JSONObject, to statistics: inout KafkaStatistics) {
        for case .object(let topic) in topics.lazy.map(\.value) {
            guard case .object(let partitions)? = topic.value("partitions") else { continue }
            for case .object(let partition) in partitions.lazy.map(\.value) {
                statistics.queuedRecords = statistics.queuedRecords.saturating(
                    adding: partition.number("fetchq_cnt") ?? 0)
                statistics.queuedBytes = statistics.queuedBytes.saturating(adding: partition.number("fetchq_size") ?? 0)
            }
        }
    }
}

extension JSONObject {
    /// Searches the members in sequence: they are few, and this is not a hot path.
    fileprivate func value(_ name: StaticString) -> JSONValue? { first { $0.name == name }?.value }

    fileprivate func number(_ name: StaticString) -> Int64? {
        if case .integer(let number)? = value(name) { number } else { nil }
    }

    fileprivate func text(_ name: StaticString) -> String {
        if case .string(let text)? = value(name) { String(decoding: text, as: UTF8.self) } else { "" }
    }
}
