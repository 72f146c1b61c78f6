import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import PublisherService

/// The service's status as JSON, for the dashboard and for programs.
enum StatusJSON {
    /// - Parameter stuck: the reason why nothing moves; `nil` for a process that works.
    static func health(stuck: String? = nil) -> [UInt8] {
        JSONWriter.object { json in
            json.field("healthy", stuck == nil)
            json.array("reasons") { json in
                if let stuck {
                    ReadinessReason(code: "stuck", detail: stuck, remedy: "restart the process, and report this")
                        .write(into: &json)
                }
            }
        }
    }

    static func problem(_ text: String) -> [UInt8] { JSONWriter.object { $0.field("error", text) } }

    static func paused(_ lane: String, _ isPaused: Bool) -> [UInt8] {
        JSONWriter.object { json in
            json.field("lane", lane)
            json.field("paused", isPaused)
        }
    }

    static func released(_ lane: String, _ waiting: FloodRelease) -> [UInt8] {
        JSONWriter.object { json in
            json.field("lane", lane)
            json.field("released", true)
            json.field("waiting", waiting.rawValue)
        }
    }

    static func results(_ results: [ResultRecord]) -> [UInt8] {
        JSONWriter.object { json in
            json.array("results") { json in
                for result in results {
                    var bytes: [UInt8] = []
                    result.encode(into: &bytes)
                    json.raw(bytes)
                }
            }
        }
    }

    static func status(_ publisher: Publisher) -> [UInt8] {
        let status = publisher.metrics.status
        return JSONWriter.object(reserving: 8192) { json in
            json.field("at", status.at)
            json.field("replica", publisher.replica)
            json.field("group", publisher.settings.kafka.group)
            json.object("hub") { json in
                json.field("name", publisher.settings.hub.text)
                json.field("host", publisher.settings.connection.endpoint.host)
            }
            json.field("startedAt", status.startedAt)
            json.field("version", ServiceVersion.text)
            json.field("healthy", status.stuck == nil)
            json.field("ready", status.notReady.isEmpty)
            json.field("stuck", status.stuck)
            json.array("notReady") { json in
                for reason in status.notReady { reason.write(into: &json) }
            }
            json.array("waits") { json in
                for wait in status.waits {
                    json.object { json in
                        json.field("lane", wait.lane)
                        json.field("reason", wait.reason.rawValue)
                        json.field("seconds", Double(wait.duration.nanoseconds) / 1e9)
                        json.field("detail", wait.detail)
                    }
                }
            }
            json.array("stopped") { json in for news in status.stopped { stopped(news, &json) } }
            json.array("halts") { json in for halt in status.halts { self.halt(halt, &json) } }
            pace(status, &json)
            json.array("lanes") { json in
                for (lane, tally) in zip(status.lanes, status.tally.lanes) { self.lane(lane, tally, &json) }
            }
            json.array("categories") { json in
                for (name, outcomes) in zip(status.categories, status.tally.categories) {
                    json.object { json in
                        json.field("name", name)
                        self.outcomes(outcomes, &json)
                    }
                }
            }
            json.array("latencyBounds") { json in
                for bound in LatencyHistogram.bounds { json.value(Double(bound) / 1e9) }
            }
        }
    }

    /// The rates and latencies of the last hour, a point for every ten seconds.
    static func history(_ status: ServiceStatus, _ history: ServiceHistory) -> [UInt8] {
        JSONWriter.object(reserving: 65_536) { json in
            json.array("lanes", of: status.lanes.map(\.name))
            json.array("points") { json in
                for point in history.points {
                    json.object { json in
                        json.field("at", point.at)
                        json.field("requests", point.requests)
                        json.array("lanes") { json in
                            for lane in point.lanes {
                                json.object { json in
                                    json.field("rate", lane.rate)
                                    json.field("accepted", lane.accepted)
                                    json.field("failed", lane.failed)
                                    json.field("p50", lane.p50)
                                    json.field("p95", lane.p95)
                                    json.field("p99", lane.p99)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func stopped(_ news: StoppedNews, _ json: inout JSONWriter) {
        json.object { json in
            json.field("what", news.gate.word)
            json.field("events", news.events)
            json.object("categories") { json in
                for (name, count) in news.categories.sorted(by: { $0.key < $1.key }) {
                    json.field(named: name, Int64(count))
                }
            }
            json.field("oldest", news.oldest)
            json.field("tooOld", news.tooOld)
            json.field("expiring", news.expiring)
            json.field("nextExpiry", news.nextExpiry)
        }
    }

    private static func halt(_ halt: Halt, _ json: inout JSONWriter) {
        json.object { json in
            json.field("reason", halt.reason.rawValue)
            json.field("detail", halt.detail)
            json.field("remedy", halt.remedy)
            json.field("lane", halt.lane)
            json.field("since", halt.since)
            json.field("probeAt", halt.probeAt)
        }
    }

    private static func pace(_ status: ServiceStatus, _ json: inout JSONWriter) {
        let limiters = Limiter.allCases.filter { status.limiters.contains($0) && $0 != .nothing }
        json.array("limitedBy", of: limiters.map(\.rawValue))
        json.field("requests", Int64(clamping: status.tally.requests))
        json.field("inFlight", status.inFlight)
        json.field("concurrencyLimit", status.concurrencyLimit)
        json.field("connections", status.wire.connections)
        json.field("streams", status.wire.streams)
        json.field("http", status.wire.http)
        json.field("tokens", status.tokens)
        if let rate = status.rate {
            json.object("rate") { json in
                json.field("perSecond", rate.perSecond)
                json.field("burst", rate.burst)
            }
        }
        if let held = status.held {
            json.object("held") { json in
                json.field("events", held.events)
                json.field("ours", held.ours)
                json.field("nextDue", held.nextDue)
            }
        }
        json.object("kafka") { json in
            json.field("errors", Int64(clamping: status.kafkaErrors))
            json.field("lastError", status.lastKafkaError?.description)
        }
    }

    private static func lane(_ lane: ServiceStatus.Lane, _ tally: Tally.Lane, _ json: inout JSONWriter) {
        json.object { json in
            json.field("name", lane.name)
            json.array("topics", of: lane.topics)
            json.field("partitions", lane.partitions)
            json.field("paused", lane.isPaused)
            json.field("flooded", lane.isFlooded)
            json.field("lag", lane.lag)
            json.field("lagSeconds", lane.lagAge.map { Double($0.nanoseconds) / 1e9 })
            json.field("hidden", lane.hidden)
            json.field("held", lane.buffered)
            json.field("heldBytes", lane.bufferedBytes)
            json.field("ready", lane.ready)
            json.field("delayed", lane.delayed)
            outcomes(tally.outcomes, &json)
            json.object("deadLetters") { json in
                for (reason, count) in tally.deadLetters.sorted(by: { $0.key < $1.key }) where count > 0 {
                    json.field(named: reason, Int64(clamping: count))
                }
            }
            json.object("latency") { json in
                latency("queue", tally.queue, &json)
                latency("hub", tally.hub, &json)
                latency("total", tally.total, &json)
            }
        }
    }

    private static func outcomes(_ outcomes: Tally.Outcomes, _ json: inout JSONWriter) {
        json.object("outcomes") { json in
            for outcome in Outcome.allCases where outcomes[outcome] > 0 {
                json.field(named: outcome.rawValue, Int64(clamping: outcomes[outcome]))
            }
        }
    }

    /// Writes percentiles since the start, in seconds, and buckets from which to compute them over a shorter time.
    private static func latency(_ name: StaticString, _ histogram: LatencyHistogram, _ json: inout JSONWriter) {
        json.object(name) { json in
            json.field("p50", histogram.quantile(0.5))
            json.field("p95", histogram.quantile(0.95))
            json.field("p99", histogram.quantile(0.99))
            json.array("counts") { json in for count in histogram.counts { json.value(Int64(clamping: count)) } }
        }
    }
}
