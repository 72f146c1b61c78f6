import EditorialControl
import KafkaIO
import NewsModel
import OTLPTracing
import PublishEngine
import PublisherService

/// All metrics of a process, under the names that alerts and dashboards use.
enum MetricsPage {
    /// - Parameter spans: the span counts; `nil` without tracing.
    static func text(_ status: ServiceStatus, _ process: ProcessFigures, spans: SpanExporter.Counts? = nil) -> [UInt8] {
        var text = MetricsText()
        deliveries(status, &text)
        latencies(status, &text)
        lanes(status, &text)
        pace(status, &text)
        waits(status, &text)
        health(status, &text)
        kafka(status, &text)
        if let spans { traces(spans, &text) }
        process.write(into: &text)
        return text.bytes
    }

    private static func deliveries(_ status: ServiceStatus, _ text: inout MetricsText) {
        text.family("newswire_deliveries_total", .counter, "Deliveries settled, by outcome.") { text in
            for (lane, tally) in zip(status.lanes, status.tally.lanes) {
                for outcome in Outcome.allCases {
                    text.sample(tally.outcomes[outcome], ("lane", lane.name), ("outcome", outcome.rawValue))
                }
            }
        }
        text.family(
            "newswire_category_deliveries_total", .counter,
            "Deliveries settled, by category; one with two categories counts in both."
        ) { text in
            for (category, outcomes) in zip(status.categories, status.tally.categories) {
                for outcome in Outcome.allCases {
                    text.sample(outcomes[outcome], ("category", category), ("outcome", outcome.rawValue))
                }
            }
        }
        text.family("newswire_dead_letters_total", .counter, "Records written to the dead-letter topic.") { text in
            perLane(status, by: "reason", \.deadLetters, &text)
        }
        text.family(
            "newswire_payload_cuts_total", .counter,
            "Deliveries with a part shortened or left out to fit the platform's limit, by part."
        ) { text in
            perLane(status, by: "part", \.cuts, &text)
        }
        text.family(
            "newswire_categories_left_out_total", .counter,
            "Categories that deliveries were not sent to, because a hub takes 20 tags in one send.",
            of: zip(status.lanes, status.tally.lanes), { [("lane", $0.0.name)] }, { $0.1.leftOut })
        text.family(
            "newswire_hub_requests_total", .counter, "Requests sent to the hub, retries and probes included.",
            status.tally.requests)
    }

    /// Writes a sample for each lane and each key of its counts, in the order of the keys.
    private static func perLane(
        _ status: ServiceStatus, by label: String, _ counts: KeyPath<Tally.Lane, [String: UInt64]>,
        _ text: inout MetricsText
    ) {
        for (lane, tally) in zip(status.lanes, status.tally.lanes) {
            for (key, count) in tally[keyPath: counts].sorted(by: { $0.key < $1.key }) {
                text.sample(count, ("lane", lane.name), (label, key))
            }
        }
    }

    private static func latencies(_ status: ServiceStatus, _ text: inout MetricsText) {
        let bounds = LatencyHistogram.bounds.map { Double($0) / 1e9 }
        let families: [(String, String, KeyPath<Tally.Lane, LatencyHistogram>)] = [
            ("newswire_queue_seconds", "From the record's time to the first request for it.", \.queue),
            ("newswire_hub_seconds", "From the last request to its reply.", \.hub),
            ("newswire_delivery_seconds", "From the record's time to its outcome.", \.total),
        ]
        for (name, help, path) in families {
            text.family(name, .histogram, help) { text in
                for (lane, tally) in zip(status.lanes, status.tally.lanes) {
                    let histogram = tally[keyPath: path]
                    text.histogram(
                        bounds: bounds, counts: histogram.counts, sum: Double(histogram.sum) / 1e9, ("lane", lane.name))
                }
            }
        }
    }

    private static func lanes(_ status: ServiceStatus, _ text: inout MetricsText) {
        func gauge(_ name: String, _ help: String, _ value: (ServiceStatus.Lane) -> (some MetricValue)?) {
            text.family(name, .gauge, help, of: status.lanes, { [("lane", $0.name)] }, value)
        }
        gauge("newswire_consumer_lag_events", "Records of our partitions that are not committed yet.") {
            $0.lag
        }
        gauge("newswire_consumer_lag_seconds", "Age of the oldest record of our partitions without an outcome.") {
            $0.lagAge.map { Double($0.nanoseconds) / 1e9 }
        }
        gauge(
            "newswire_hidden_events",
            "Records of our partitions that cannot be read yet, because a transaction before them is open."
        ) { $0.hidden }
        gauge("newswire_assigned_partitions", "Partitions of the lane that this process reads.") {
            $0.partitions ?? 0
        }
        gauge("newswire_window_records", "Buffered records of the lane.") { $0.buffered }
        gauge("newswire_window_limit_records", "Records that each event loop may buffer.") { $0.window.records }
        gauge("newswire_window_bytes", "Bytes of the lane's buffered records.") { $0.bufferedBytes }
        gauge("newswire_window_limit_bytes", "Bytes of records that each event loop may buffer.") {
            $0.window.bytes
        }
        gauge("newswire_ready_deliveries", "Deliveries that may leave.") { $0.ready }
        gauge("newswire_delayed_deliveries", "Deliveries that wait for a time: retries and embargoes.") {
            $0.delayed
        }
        gauge("newswire_lane_paused", "1 while an operator has paused the lane.") { $0.isPaused ? 1 : 0 }
    }

    private static func pace(_ status: ServiceStatus, _ text: inout MetricsText) {
        func gauge(_ name: String, _ help: String, _ value: Int?) {
            if let value { text.family(name, .gauge, help, value) }
        }
        gauge(
            "newswire_held_events", "Events that wait for their time on the held topic; absent without one.",
            status.held?.events)
        gauge(
            "newswire_held_events_owned", "Of the held events, those that this process puts back when they are due.",
            status.held?.ours)
        text.family(
            "newswire_held_events_lost_total", .counter,
            "Events that vanished from the held topic and whose originals are gone from their lanes too.",
            UInt64(clamping: status.heldLost))
        text.family(
            "newswire_hub_key_changes_total", .counter, "Changes of the hub's key since the start.", status.keyChanges)
        gauge("newswire_in_flight_requests", "Requests sent and not answered.", status.inFlight)
        gauge("newswire_concurrency_limit", "Requests that may be in flight now.", status.concurrencyLimit)
        gauge("newswire_hub_connections", "Connections to the hub.", status.wire.connections)
        gauge(
            "newswire_hub_streams", "Requests in flight over HTTP/2; over HTTP/1.1 each has a connection of its own.",
            status.wire.streams)
        gauge("newswire_rate_tokens", "Requests that could leave at once.", status.tokens)
        gauge("newswire_rate_limit_per_second", "The configured rate of the whole group.", status.rate?.perSecond)
        text.family(
            "newswire_limited_by", .gauge, "1 for what keeps an event loop from sending more now.",
            of: Limiter.allCases, { [("reason", $0.rawValue)] }, { status.limiters.contains($0) ? 1 : 0 })
        text.family(
            "newswire_limited_seconds_total", .counter, "How long each limit held, summed over event loops.",
            of: status.limitedFor, { [("reason", $0.0.rawValue)] }, { $0.1 })
    }

    private static func waits(_ status: ServiceStatus, _ text: inout MetricsText) {
        text.family(
            "newswire_waiting_seconds", .gauge,
            "How long something has waited for the reason; absent while nothing does.", of: status.waits,
            { [("lane", $0.lane ?? ""), ("reason", $0.reason.rawValue)] }, { Double($0.duration.nanoseconds) / 1e9 })
        text.family(
            "newswire_removed_unread_records_total", .counter,
            "Records that retention or somebody removed before they were read: an upper bound, as offsets have gaps.",
            of: status.lanes, { [("lane", $0.name)] }, { $0.removedUnread })
        text.family(
            "newswire_partition_restarts_total", .counter,
            "Partitions whose offsets started again, because the topic was recreated or truncated.", status.restarts)
        control(status, &text)
    }

    /// Metrics of editorial control. They exist from the start, as alerts require.
    private static func control(_ status: ServiceStatus, _ text: inout MetricsText) {
        let control = status.control
        let standing = control?.standing.all ?? []
        let stops = standing.count(where: \.isStop)
        text.family(
            "newswire_standing_orders", .gauge, "Editors' orders in force.",
            of: [("recall", standing.count - stops), ("stop", stops)], { [("kind", $0.0)] }, { $0.1 })
        text.family(
            "newswire_control_alarms", .gauge, "Reasons why an order might not be obeyed; see /readyz.",
            control?.alarms.count ?? 0)
        text.family(
            "newswire_control_unreadable_records", .gauge, "Records on the control topic without a meaning.",
            control?.counts.unreadable ?? 0)
        text.family(
            "newswire_unordered_recalls_total", .counter,
            "Recalls by events that other processes do not obey, as too many stand.", control?.counts.unordered ?? 0)
        text.family(
            "newswire_unaudited_total", .counter, "Lines that the audit topic did not take.",
            control?.counts.unaudited ?? 0)
    }

    private static func kafka(_ status: ServiceStatus, _ text: inout MetricsText) {
        let clients = status.lanes.map { ($0.name, $0.consumer) } + [("producer", status.producer)]
        func each(
            _ name: String, _ kind: MetricsText.Kind, _ help: String, _ value: KeyPath<KafkaStatistics.Broker, Int64>
        ) {
            text.family(name, kind, help) { text in
                for case (let client, let statistics?) in clients {
                    for broker in statistics.brokers {
                        text.sample(broker[keyPath: value], ("client", client), ("broker", broker.name))
                    }
                }
            }
        }
        text.family("newswire_kafka_round_trip_seconds", .gauge, "Round trip of requests in the last seconds.") {
            text in
            for case (let client, let statistics?) in clients {
                for broker in statistics.brokers {
                    for (name, micros) in [("median", broker.roundTripMedian), ("p99", broker.roundTripP99)] {
                        text.sample(
                            Double(micros) / 1e6, ("client", client), ("broker", broker.name), ("statistic", name))
                    }
                }
            }
        }
        each("newswire_kafka_waiting_requests", .gauge, "Requests that wait to be sent to a broker.", \.waiting)
        each("newswire_kafka_in_flight_requests", .gauge, "Requests that a broker has not answered.", \.inFlight)
        each("newswire_kafka_request_errors_total", .counter, "Requests that failed or timed out.", \.errors)
        each("newswire_kafka_request_retries_total", .counter, "Requests that were sent again.", \.retries)
        each("newswire_kafka_disconnects_total", .counter, "Connections to brokers that ended.", \.disconnects)
        text.family(
            "newswire_kafka_queue_records", .gauge, "Records in librdkafka: to be sent, or fetched ahead.", of: clients,
            { [("client", $0.0)] }, { $0.1?.queuedRecords })
        text.family(
            "newswire_kafka_queue_bytes", .gauge, "Bytes of records in librdkafka.", of: clients,
            { [("client", $0.0)] }, { $0.1?.queuedBytes })
        text.family(
            "newswire_kafka_rebalances_total", .counter, "Rebalances of the lane's group.", of: status.lanes,
            { [("lane", $0.name)] }, { $0.consumer?.rebalances })
    }

    private static func traces(_ spans: SpanExporter.Counts, _ text: inout MetricsText) {
        text.family("newswire_trace_spans_total", .counter, "Spans of requests, by what became of them.") { text in
            text.sample(spans.exported, ("fate", "exported"))
            text.sample(spans.dropped, ("fate", "dropped"))
        }
    }

    private static func health(_ status: ServiceStatus, _ text: inout MetricsText) {
        text.family(
            "newswire_halted", .gauge, "1 while sending has stopped for the reason.", of: Halt.Reason.allCases,
            { [("reason", $0.rawValue)] }, { reason in status.halts.contains { $0.reason == reason } ? 1 : 0 })
        text.family("newswire_ready", .gauge, "1 when news can be sent.", status.notReady.isEmpty ? 1 : 0)
        text.family(
            "newswire_stuck", .gauge, "1 when nothing moves without a known reason.", status.stuck == nil ? 0 : 1)
        text.family(
            "newswire_kafka_errors_total", .counter, "Errors reported by the Kafka clients.", status.kafkaErrors)
        text.program(startedAt: status.startedAt)
    }
}
