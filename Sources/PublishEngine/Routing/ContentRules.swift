/// The settings for an event's content: its routing, and the payloads built from it. Both change together, and an event keeps
/// the rules that routed it, so it uses either the old settings or the new ones, never a mix, retries included.
public final class ContentRules: Sendable {
    public let router: Router
    public let builder: PayloadBuilder

    public init(router: Router, builder: PayloadBuilder) {
        self.router = router
        self.builder = builder
    }
}
