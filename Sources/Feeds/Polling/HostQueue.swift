import NewsModel

/// Chooses the next feed to fetch: one request per host at a time, a pause after each, and a limit on all requests.
struct HostQueue: Sendable {
    var gap: Duration
    var inFlightMax: Int
    private(set) var inFlight = 0
    private var hosts: [String: Host] = [:]
    private var turns = TimerHeap<String>()

    private struct Host: Sendable, Hashable {
        /// Names of feeds, in order of arrival.
        var waiting: [String] = []
        var isBusy = false
        /// The earliest time of the next request.
        var freeAt = Instant.distantPast
        /// True if the host is in `turns`.
        var isListed = false
    }

    init(gap: Duration, inFlightMax: Int) {
        self.gap = gap
        self.inFlightMax = inFlightMax
    }

    /// Time of the next turn; `nil` if no feed waits, or if only the end of a request can bring a turn.
    var wakeAt: Instant? { inFlight < inFlightMax ? turns.next : nil }

    /// Adds a feed that is due. It must not be waiting already.
    mutating func add(_ feed: String, host: String, at now: Instant) {
        var entry = hosts[host] ?? Host()
        entry.waiting.append(feed)
        hosts[host] = entry
        list(host, at: now)
    }

    mutating func remove(_ feed: String, host: String) {
        hosts[host]?.waiting.removeAll { $0 == feed }
    }

    /// Returns the next feed to fetch now. Its host is busy until `ended`.
    mutating func next(at now: Instant) -> (feed: String, host: String)? {
        while inFlight < inFlightMax, let host = turns.take(at: now) {
            hosts[host]?.isListed = false
            guard var entry = hosts[host], !entry.isBusy, !entry.waiting.isEmpty else { continue }
            guard entry.freeAt <= now else {
                list(host, at: now)
                continue
            }
            let feed = entry.waiting.removeFirst()
            entry.isBusy = true
            hosts[host] = entry
            inFlight += 1
            return (feed, host)
        }
        return nil
    }

    /// Frees the host after the end of a request from `next`.
    mutating func ended(_ host: String, at now: Instant) {
        inFlight = max(inFlight - 1, 0)
        hosts[host]?.isBusy = false
        let free = max(hosts[host]?.freeAt ?? now, now + gap)
        hosts[host]?.freeAt = free
        list(host, at: now)
        forgetIdle(at: now)
    }

    /// Delays requests to a host that asked for that.
    mutating func block(_ host: String, until: Instant) {
        let free = max(hosts[host]?.freeAt ?? until, until)
        hosts[host, default: Host()].freeAt = free
    }

    /// The time until which the host is blocked; `nil` if only the usual gap applies.
    func blockedUntil(_ host: String, at now: Instant) -> Instant? {
        hosts[host].flatMap { $0.freeAt > now + gap ? $0.freeAt : nil }
    }

    private mutating func list(_ host: String, at now: Instant) {
        guard let entry = hosts[host], !entry.isListed, !entry.isBusy, !entry.waiting.isEmpty else { return }
        hosts[host]?.isListed = true
        turns.add(host, at: max(entry.freeAt, now))
    }

    /// Forgets hosts that no feed waits for, once there are very many.
    private mutating func forgetIdle(at now: Instant) {
        guard hosts.count > forgetsAbove else { return }
        hosts = hosts.filter { $0.value.isBusy || !$0.value.waiting.isEmpty || $0.value.freeAt > now }
        forgetsAbove = max(2 * hosts.count, Self.hostsMax)
    }

    private var forgetsAbove = Self.hostsMax

    private static let hostsMax = 50_000
}
