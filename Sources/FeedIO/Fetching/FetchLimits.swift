import Feeds

/// The limits of one fetch.
public struct FetchLimits: Sendable, Hashable {
    /// Limit for the name lookup and the TCP connection of one hop.
    public var connect: Duration = .seconds(10)
    /// Limit from the first hop to the last byte.
    public var whole: Duration = .seconds(20)
    /// Maximum bytes before and after decompression. Their ratio is not limited, because news repeats itself, and this
    /// limit also bounds what a small bomb can unpack to.
    public var body = FeedLimits.document
    /// Maximum bytes before the body: the head, and all informational answers before it.
    public var head = 64 << 10
    public var headerFields = 256
    public var redirects = 5
    /// Ports that are allowed in addition to that of the configured address.
    public var ports = AddressRules.usualPorts

    public init() {}
}
