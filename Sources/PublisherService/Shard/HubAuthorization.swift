import KafkaIO
import NewsModel
import NotificationHub

/// The token of a shard's requests. It is renewed once per lifetime, and checked at most once a second.
struct HubAuthorization {
    private var token: AccessToken
    private var checkedAt = Instant.distantPast

    init(_ connection: ConnectionString) { token = AccessToken(connection) }

    /// The value for the requests that follow; `nil` if it was checked less than a second ago.
    ///
    /// - Parameter now: the monotonic time.
    mutating func due(at now: Instant) -> String? {
        guard now >= checkedAt + .seconds(1) else { return nil }
        checkedAt = now
        return token.headerValue(at: ServiceClock.wall.milliseconds / 1000)
    }

    /// Makes a new token for the next request, because the hub has refused this one.
    mutating func discard() {
        token.discard()
        checkedAt = .distantPast
    }
}
