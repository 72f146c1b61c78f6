/// One run of the real program between a broker and the counting hub.
struct Scenario {
    var name: String
    var events = 80_000
    var partitions = 16
    /// All events are in the first partition, and Kafka's wait for the others has its default.
    var isUneven = false
    /// The payload's platforms; empty for one template payload per event.
    var platforms: [String] = []
    var isSecure = false
    var connections = 64
    var shards = 1
    /// The hub's response time, in milliseconds.
    var delay = 0
    /// The limit of requests per second; `nil` for no limit.
    var rate: Int?
    /// Events written per second during the run; `nil` if all are written before it.
    var writtenPerSecond: Int?
    /// Events on the backfill lane, written before the run.
    var backfill = 0

    static let all: [Scenario] = [
        Scenario(name: "template"),
        Scenario(name: "three native platforms", events: 30_000, platforms: ["apple", "fcmv1", "windows"]),
        Scenario(name: "https", isSecure: true),
        Scenario(name: "two shards", shards: 2),
        Scenario(name: "one partition", events: 10_000, partitions: 1),
        Scenario(name: "128 partitions", partitions: 128),
        Scenario(name: "one busy partition of 16", events: 10_000, isUneven: true),
        Scenario(name: "hub 20 ms away, 256 connections", connections: 256, delay: 20),
        Scenario(name: "1,000 a second", events: 20_000, writtenPerSecond: 1_000),
        Scenario(
            name: "1,000 a second before 100,000 of backfill", events: 20_000, writtenPerSecond: 1_000,
            backfill: 100_000),
        Scenario(name: "pace of 500 a second", events: 30_000, rate: 500),
    ]

    /// Scenarios with a hub that answers after `delay` milliseconds: as fast as it goes, and at four fifths of what its
    /// connections allow, where requests should not have to wait.
    static func distant(_ delay: Int) -> [Scenario] {
        let delay = max(delay, 1)
        var fast = Scenario(name: "hub \(delay) ms away", events: 20_000, delay: delay)
        fast.name += ", of at most \(fast.connections * 1_000 / delay)"
        var paced = fast
        paced.writtenPerSecond = max(1, fast.connections * 800 / delay)
        paced.name = "hub \(delay) ms away, \(paced.writtenPerSecond ?? 0) a second"
        return [fast, paced]
    }

    /// - Parameter certificate: a file with the certificate to trust.
    ///
    /// The configuration's fetch wait is short unless it is what is measured, because the embedded broker delays an empty
    /// fetch for all of it.
    func configuration(broker: String, hubPort: Int, certificate: String?) -> String {
        let scheme = isSecure ? "https" : "http"
        let lanes =
            backfill > 0
            ? "{live: {topics: [news.events]}, backfill: {topics: [news.backfill], floor: 10%}}"
            : "{live: {topics: [news.events]}}"
        return """
            kafka:
              bootstrapServers: ["\(broker)"]
              properties: {\(isUneven ? "" : "fetch.wait.max.ms: 1, ")session.timeout.ms: 6000}
            lanes: \(lanes)
            results: {topic: news.results}
            hub:
              connectionString: "Endpoint=\(scheme)://127.0.0.1:\(hubPort)/;SharedAccessKeyName=Bench;SharedAccessKey=YmVuY2g="
              name: news
              connections: \(connections)
              \(certificate.map { "trustRoots: \($0)" } ?? "")
            payload: {mode: \(platforms.isEmpty ? "template" : "native, platforms: [\(platforms.joined(separator: ", "))]")}
            rate: {perSecond: \(rate.map(String.init) ?? "unlimited")}
            shards: \(shards)
            http: {listen: off}
            """
    }
}
