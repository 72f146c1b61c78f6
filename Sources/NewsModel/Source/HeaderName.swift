/// The record headers that Newswire reads and writes.
public enum HeaderName {
    /// On results and dead letters: `topic/partition/offset/platform` of the event (`SourceCoordinates`).
    public static let source = "nw-source"
    /// On results and dead letters: the outcome's name.
    public static let outcome = "nw-outcome"
    /// On results: whose they are (`kafka.group`). Results of other groups are not in our ledger.
    public static let group = "nw-group"
    /// On dead letters: the code of what went wrong.
    public static let reason = "nw-reason"
    /// On results: the event's version, for finding duplicates without reading JSON.
    public static let version = "nw-version"
    /// On results: which record it is about, a hash of 16 hexadecimal digits. Coordinates come again when a topic is made anew.
    public static let identity = "nw-identity"
    /// On dead letters: when the original was written, in milliseconds since 1970.
    public static let writtenAt = "nw-written-at"
    /// On dead letters without the original's value and headers, which the broker refused as too large: `true`.
    public static let truncated = "nw-truncated"
    /// On a record put back on its lane: how often that happened.
    public static let redrive = "nw-redrive"

    public static let contentType = "content-type"
    /// W3C Trace Context.
    public static let traceParent = "traceparent"
    public static let traceState = "tracestate"

    /// CloudEvents in Kafka's binary mode: every attribute is a header with this prefix.
    public static let cloudEventPrefix = "ce_"
    public static let cloudEventVersion = "ce_specversion"
    public static let cloudEventID = "ce_id"
    public static let cloudEventTime = "ce_time"

    /// Whether an event's header also goes on its results.
    public static func isCarried(_ name: String) -> Bool {
        name.utf8.starts(with: cloudEventPrefix.utf8) || isTraceContext(name)
    }

    fileprivate static func isTraceContext(_ name: String) -> Bool { name == traceParent || name == traceState }
}

extension HeaderName {
    /// Names and values together of the headers that a result carries on.
    public static let carriedBytesMax = 8 << 10
    /// One value among them; longer ones are left out.
    public static let carriedValueBytesMax = 2 << 10
}

extension [RecordHeader] {
    /// Those of an event's headers that also go on its results, in their order, within the bounds of `HeaderName`: the
    /// trace context goes before everything else, then the first headers go before later ones.
    public var carriedToResults: [RecordHeader] {
        guard contains(where: { HeaderName.isCarried($0.name) }) else { return [] }
        var room = HeaderName.carriedBytesMax
        func fits(_ header: RecordHeader) -> Bool {
            guard (header.value?.count ?? 0) <= HeaderName.carriedValueBytesMax, header.byteCount <= room else {
                return false
            }
            room -= header.byteCount
            return true
        }
        var isCarried = [Bool](repeating: false, count: count)
        for index in indices where HeaderName.isTraceContext(self[index].name) { isCarried[index] = fits(self[index]) }
        for index in indices
        where HeaderName.isCarried(self[index].name) && !HeaderName.isTraceContext(self[index].name) {
            isCarried[index] = fits(self[index])
        }
        return indices.filter { isCarried[$0] }.map { self[$0] }
    }
}
