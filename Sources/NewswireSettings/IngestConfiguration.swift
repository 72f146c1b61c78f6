package import Feeds

/// Everything about feeds that an operator may set.
package struct IngestConfiguration: Sendable {
    /// What the `Ingester` goes by; `partitions` and `writer` are known only at run time.
    package var feeds: IngestSettings
    package var stateTopic: String
    /// The address that WebSub hubs reach by `feeds.webSubURL`; `nil` without WebSub.
    package var webSubListen: NetworkAddress?
    /// The status page; `nil` when switched off.
    package var listen: NetworkAddress?
    /// For publishers who want to tell us something: part of the `User-Agent`.
    package var contact: String?

    package var isConfigured: Bool { !feeds.feeds.isEmpty }
}
