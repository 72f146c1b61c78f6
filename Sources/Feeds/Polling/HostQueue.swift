import NewsModel

/// Whose turn it is to be fetched: one request at a time to a host, with a pause between two, and not too many in all.
struct HostQueue: Sendable, Hashable {
    var gap: Duration
    var inFlightMax: Int
    private(set) var inFlight = 0
    private var hosts: [String: Host] = [:]
    private var turns = TimerHeap<String>()

    private struct Host: Sendable, Hashable {
        /// Names of feeds, the first to come first.
        var waiting: [String] = []
        var isBusy = false
        /// No request before.
        var freeAt = Instant.distantPast
        /// Stands in `turns`.
        var isListed = false
    }

    init(gap: Duration, inFlightMax: Int) {
        self.gap = gap
        self.inFlightMax = inFlightMax
    }

    /// When a waiting feed may have its turn; `nil` if none waits, or only the end of a request can bring one.
    var wakeAt: Instant? { inFlight < inFlightMax ? turns.next : nil }

    /// A feed is due; it must not be waiting already.
    mutating func add(_ feed: String, host: String, at now: Instant) {
        var entry = hosts[host] ?? Host()
        entry.waiting.append(feed)
        hosts[host] = entry
        list(host, at: now)
    }

    mutating func remove(_ feed: String, host: String) {
        hosts[host]?.waiting.removeAll { $0 == feed }
    }

    /// The next feed to fetch now; its host is busy until `ended`.
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

    /// The request of a feed from `next` has ended.
    mutating func ended(_ host: String, at now: Instant) {
        inFlight = max(inFlight - 1, 0)
        hosts[host]?.isBusy = false
        let free = max(hosts[host]?.freeAt ?? now, now + gap)
        hosts[host]?.freeAt = free
        list(host, at: now)
        forgetIdle(at: now)
    }

    /// The host asked to be left alone.
    mutating func block(_ host: String, until: Instant) {
        let free = max(hosts[host]?.freeAt ?? until, until)
        hosts[host, default: Host()].freeAt = free
    }

    /// When the host may be asked again; `nil` if at any time.
    func isBlocked(_ host: String, at now: Instant) -> Instant? {
        hosts[host].flatMap { $0.freeAt > now + gap ? $0.freeAt : nil }
    }

    private mutating func list(_ host: String, at now: Instant) {
        guard let entry = hosts[host], !entry.isListed, !entry.isBusy, !entry.waiting.isEmpty else { return }
        hosts[host]?.isListed = true
        turns.add(host, at: max(entry.freeAt, now))
    }

    /// Hosts that nobody waits for are not kept for ever.
    private mutating func forgetIdle(at now: Instant) {
        guard hosts.count > Self.hostsMax, hosts.count.isMultiple(of: 1_024) else { return }
        hosts = hosts.filter { $0.value.isBusy || !$0.value.waiting.isEmpty || $0.value.freeAt > now }
    }

    private static let hostsMax = 50_000
}
