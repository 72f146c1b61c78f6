import NewsModel

/// What the settings say of an event: where it goes and what is sent of it. Both change together, and an event keeps the
/// desk that read it, so it is routed and built wholly by one reading of the settings, retries included.
public final class Desk: Sendable {
    public let router: Router
    public let builder: PayloadBuilder

    public init(router: Router, builder: PayloadBuilder) {
        self.router = router
        self.builder = builder
    }
}

/// What may change while an engine runs.
public struct Reload: Sendable {
    /// `nil` for unlimited.
    public var rate: EngineSettings.Rate?
    /// For the same platforms as before. Records read and not yet looked at get this desk, all others keep theirs.
    public var desk: Desk

    public init(rate: EngineSettings.Rate?, desk: Desk) {
        self.rate = rate
        self.desk = desk
    }
}

extension Engine {
    mutating func reload(_ reload: Reload, _ turn: Turn) {
        desk = reload.desk
        // A new bucket starts empty: an unchanged rate keeps the one it has.
        guard rate != reload.rate else { return }
        rate = reload.rate
        resetBucket(turn)
    }
}
