package import Feeds

/// Everything about feeds that an operator may set.
package struct IngestConfiguration: Sendable {
    /// The settings of the `Ingester`. Its `partitions` and `writer` are known only at run time.
    package var feeds: IngestSettings
    package var stateTopic: String
    /// The address that WebSub hubs reach by `feeds.webSubURL`; `nil` without WebSub.
    package var webSubListen: NetworkAddress?
    /// The address of the status page; `nil` if it is off.
    package var listen: NetworkAddress?
    /// An address at which publishers can reach us, sent as part of the `User-Agent`.
    package var contact: String?

    package var isConfigured: Bool { !feeds.feeds.isEmpty }
}
