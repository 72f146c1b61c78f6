import ByteText
import CRdkafka
import Foundation
public import KafkaModel

// Creation of topics, and their settings.

extension KafkaAdmin {
    public struct NewTopic: Sendable, Hashable {
        public var name: String
        public var partitions: Int
        /// `nil` uses the broker's default.
        public var replication: Int?
        /// Topic settings such as `retention.ms`.
        public var configuration: [String: String]

        public init(name: String, partitions: Int, replication: Int? = nil, configuration: [String: String] = [:]) {
            self.name = name
            self.partitions = partitions
            self.replication = replication
            self.configuration = configuration
        }
    }

    // MARK: Create and widen

    /// Creates topics. Existing topics are left unchanged and cause no failure.
    ///
    /// A broker may answer before it shows the topics; see `waitUntilVisible`.
    ///
    /// - Returns: the names of the topics that existed already.
    @discardableResult
    public func create(_ topics: [NewTopic]) throws(KafkaFailure) -> Set<String> {
        var made: [OpaquePointer?] = []
        defer { made.forEach { rd_kafka_NewTopic_destroy($0) } }
        for topic in topics {
            var text = [CChar](repeating: 0, count: 256)
            guard
                let new = rd_kafka_NewTopic_new(
                    topic.name, Int32(clamping: topic.partitions), Int32(clamping: topic.replication ?? -1), &text,
                    text.count)
            else { throw .configuration("Topic \(topic.name) cannot be asked for", remedy: String(rd: text)) }
            made.append(new)
            for (name, value) in topic.configuration.sorted(by: { $0.key < $1.key }) {
                rd_kafka_NewTopic_set_config(new, name, value)
            }
        }
        if made.isEmpty { return [] }
        let event = try ask(RD_KAFKA_ADMIN_OP_CREATETOPICS, "The topics were not created") { options, answers in
            rd_kafka_CreateTopics(client.handle, &made, made.count, options, answers)
        }
        defer { rd_kafka_event_destroy(event) }
        var count = 0
        let results = rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
        return try check(UnsafeBufferPointer(start: results, count: count), "was not created")
    }

    /// Adds partitions to topics until they have the numbers in `counts`. A topic with as many or more causes no failure.
    public func createPartitions(_ counts: [String: Int]) throws(KafkaFailure) {
        let existing = try partitionCounts(of: Array(counts.keys))
        var made: [OpaquePointer?] = []
        defer { made.forEach { rd_kafka_NewPartitions_destroy($0) } }
        for (topic, count) in counts.sorted(by: { $0.key < $1.key }) where existing[topic] ?? 0 < count {
            var text = [CChar](repeating: 0, count: 256)
            guard let new = rd_kafka_NewPartitions_new(topic, count, &text, text.count) else {
                throw .configuration("More partitions of \(topic) cannot be asked for", remedy: String(rd: text))
            }
            made.append(new)
        }
        if made.isEmpty { return }
        let event = try ask(RD_KAFKA_ADMIN_OP_CREATEPARTITIONS, "The partitions were not created") { options, answers in
            rd_kafka_CreatePartitions(client.handle, &made, made.count, options, answers)
        }
        defer { rd_kafka_event_destroy(event) }
        var count = 0
        let results = rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event), &count)
        _ = try check(UnsafeBufferPointer(start: results, count: count), "was not widened")
    }

    /// - Returns: the topics that exist already.
    private func check(
        _ results: UnsafeBufferPointer<OpaquePointer?>, _ what: String
    ) throws(KafkaFailure) -> Set<String> {
        var existing: Set<String> = []
        for result in results {
            let error = rd_kafka_topic_result_error(result)
            if error == RD_KAFKA_RESP_ERR_NO_ERROR { continue }
            let name = rd_kafka_topic_result_name(result).map { String(cString: $0) } ?? ""
            if error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS {
                existing.insert(name)
                continue
            }
            let text = rd_kafka_topic_result_error_string(result).map { String(cString: $0) } ?? ""
            throw KafkaFailure(error, during: "Topic \(name) \(what)", text: text)
        }
        return existing
    }

    /// Waits until the brokers show these topics with at least these numbers of partitions, each with a leader. Brokers learn of
    /// changes at different times, so several successive checks must succeed if there are several brokers.
    public func waitUntilVisible(_ counts: [String: Int], within limit: Duration = .seconds(30)) throws(KafkaFailure) {
        if counts.isEmpty { return }
        let began = ContinuousClock.now
        var looks = 0
        while true {
            let view = try clusterView()
            let absent = counts.filter { view.topics[$0.key].map(\.led) ?? 0 < $0.value }
            looks = absent.isEmpty ? looks + 1 : 0
            if looks >= min(view.brokers.count * 2 - 1, Self.looksMax) { return }
            if let first = absent.min(by: { $0.key < $1.key }), began.duration(to: .now) >= limit {
                let shown = view.topics[first.key].map {
                    "\(counted($0.partitions, "partition")), \($0.led) with a leader"
                }
                throw KafkaFailure(
                    code: "_TIMED_OUT", isRetriable: true,
                    detail: "Gave up after \(limit.components.seconds) s: the broker should show \(first.key) with "
                        + "\(counted(first.value, "partition")) and shows \(shown ?? "nothing of it")",
                    remedy:
                        "Look at the brokers; or this user may not see the topic: grant it DESCRIBE. Then run it again."
                )
            }
            // Kafka does not announce topics, so the brokers are polled. Callers may block, up to `limit`.
            Thread.sleep(forTimeInterval: 0.1)
        }
    }

    private static let looksMax = 9

    // MARK: Settings

    /// Returns the settings of those topics that exist and are visible to this user.
    public func states(of topics: [String]) throws(KafkaFailure) -> [String: TopicState] {
        let view = try clusterView()
        let existing = Set(topics).filter { view.topics[$0] != nil }.sorted()
        let configurations = configurations(of: existing, view)
        return existing.reduce(into: [:]) { states, topic in
            states[topic] = TopicState(
                partitions: view.topics[topic]?.partitions ?? 0, configuration: configurations[topic] ?? .unreported)
        }
    }

    /// Returns settings for a producer that writes to these topics, with batches small enough for each. Topics that cannot be
    /// described are ignored.
    public func limitingBatches(_ settings: KafkaSettings, to topics: [String]) -> KafkaSettings {
        settings.limitingBatches(to: topics, (try? states(of: topics)) ?? [:])
    }

    /// Returns topics' settings, e.g. `cleanup.policy`, including the broker's defaults. Unreadable settings are marked and
    /// cause no failure.
    public func configurations(of topics: [String]) throws(KafkaFailure) -> [String: TopicConfiguration] {
        try configurations(of: topics, clusterView())
    }

    private func configurations(of topics: [String], _ view: ClusterView) -> [String: TopicConfiguration] {
        func all(_ configuration: TopicConfiguration) -> [String: TopicConfiguration] {
            Dictionary(topics.map { ($0, configuration) }) { first, _ in first }
        }
        // The request goes to the controller. librdkafka's mock names a missing one, which would only cost time.
        let controller = rd_kafka_controllerid(client.handle, 0)
        if controller >= 0, !view.brokers.contains(controller) { return all(.unreported) }
        var asked: [OpaquePointer?] = Set(topics).sorted().map {
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, $0)
        }
        defer { asked.forEach { rd_kafka_ConfigResource_destroy($0) } }
        if asked.isEmpty { return [:] }
        let event: OpaquePointer
        do {
            event = try ask(RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS, "The topics' settings could not be read") {
                options, answers in
                rd_kafka_DescribeConfigs(client.handle, &asked, asked.count, options, answers)
            }
        } catch {
            return all(error.code == "_UNSUPPORTED_FEATURE" ? .unreported : .unreadable(error.code))
        }
        defer { rd_kafka_event_destroy(event) }
        var count = 0
        let resources = rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &count)
        var configurations = all(.unreported)
        for resource in UnsafeBufferPointer(start: resources, count: count) {
            guard let name = rd_kafka_ConfigResource_name(resource).map({ String(cString: $0) }) else { continue }
            let error = rd_kafka_ConfigResource_error(resource)
            configurations[name] =
                error == RD_KAFKA_RESP_ERR_NO_ERROR
                ? .known(Self.values(resource)) : .unreadable(KafkaFailure(error).code)
        }
        return configurations
    }

    private static func values(_ resource: OpaquePointer?) -> [String: String] {
        var count = 0
        let entries = rd_kafka_ConfigResource_configs(resource, &count)
        var values: [String: String] = [:]
        for entry in UnsafeBufferPointer(start: entries, count: count) {
            guard let name = rd_kafka_ConfigEntry_name(entry), let value = rd_kafka_ConfigEntry_value(entry) else {
                continue
            }
            values[String(cString: name)] = String(cString: value)
        }
        return values
    }

    // MARK: Asking

    /// Sends a request and returns its answer, which the caller must destroy.
    private func ask(
        _ operation: rd_kafka_admin_op_t, _ what: String, _ send: (OpaquePointer?, OpaquePointer) -> Void
    ) throws(KafkaFailure) -> OpaquePointer {
        guard let answers = rd_kafka_queue_new(client.handle) else {
            throw KafkaFailure(code: "_STATE", detail: "\(what): the Kafka client has no queue")
        }
        defer { rd_kafka_queue_destroy(answers) }
        let options = rd_kafka_AdminOptions_new(client.handle, operation)
        defer { rd_kafka_AdminOptions_destroy(options) }
        rd_kafka_AdminOptions_set_request_timeout(options, timeout, nil, 0)
        if operation != RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS {
            // Waits until the topics are usable, not only until their creation is accepted.
            rd_kafka_AdminOptions_set_operation_timeout(options, timeout, nil, 0)
        }
        send(options, answers)
        guard let event = rd_kafka_queue_poll(answers, timeout + 1_000) else {
            throw client.explained(RD_KAFKA_RESP_ERR__TIMED_OUT, during: what)
        }
        let error = rd_kafka_event_error(event)
        if error == RD_KAFKA_RESP_ERR_NO_ERROR { return event }
        rd_kafka_event_destroy(event)
        throw client.explained(error, during: what)
    }
}
