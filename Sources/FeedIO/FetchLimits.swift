import Feeds

/// The limits of one fetch.
public struct FetchLimits: Sendable, Hashable {
    public var connect: Duration = .seconds(10)
    /// From the first hop to the last byte.
    public var whole: Duration = .seconds(20)
    /// Bytes after decompression.
    public var body = FeedLimits.document
    public var redirects = 5
    /// Ports that may be connected to, next to that of the configured address.
    public var ports: Set<Int> = [80, 443, 8080, 8443]

    public init() {}
}
