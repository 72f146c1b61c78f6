import KafkaIO
import NewsModel

/// The delay by which brokers keep a lane's consumer to its quota. Nothing is read meanwhile.
struct QuotaDelay: Sendable {
    private var milliseconds: Int64 = 0
    private var until = Instant.distantPast

    /// Shorter delays do not hold up news noticeably.
    private static let least: Int64 = 1_000

    /// A broker announces its delay with an answer and then does not answer until it is over. Later statistics do not show it.
    mutating func note(_ statistics: KafkaStatistics, at now: Instant) {
        let longest = statistics.brokers.map(\.throttled).max() ?? 0
        guard longest >= Self.least, now + .milliseconds(longest) >= until else { return }
        milliseconds = longest
        until = now + .milliseconds(longest) + .seconds(5)
    }

    func lasts(at now: Instant) -> Bool { now < until }

    func notReady(lane: String, at now: Instant) -> ReadinessReason? {
        guard lasts(at: now) else { return nil }
        return .init(
            .kafkaQuota,
            "lane \(lane): the brokers delay reading by \(milliseconds / 1_000) s, because of a quota of this client",
            remedy: "raise its quota (kafka-configs.sh: consumer_byte_rate, request_percentage)", lane: lane)
    }
}
