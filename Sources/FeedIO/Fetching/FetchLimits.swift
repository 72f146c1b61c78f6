import Feeds

/// The limits of one fetch.
public struct FetchLimits: Sendable, Hashable {
    /// For the lookup of the name and the TCP connection of one hop.
    public var connect: Duration = .seconds(10)
    /// From the first hop to the last byte.
    public var whole: Duration = .seconds(20)
    /// Bytes before decompression, and bytes after it. There is no limit of their ratio beside it: news repeats itself, and
    /// what a small bomb may unpack to is bounded by this.
    public var body = FeedLimits.document
    /// Bytes before the body: the head and all informational answers before it.
    public var head = 64 << 10
    public var headerFields = 256
    public var redirects = 5
    /// Ports that may be connected to, next to that of the configured address.
    public var ports = AddressRules.usualPorts

    public init() {}
}
