public import NewsModel

/// The settings for an event's content: routing, policy and payloads. They change together. An event keeps the rules
/// that routed it, retries included, so it never mixes old and new settings.
public final class ContentRules: Sendable {
    public let router: Router
    public let builder: PayloadBuilder
    public let policy: ContentPolicy

    public init(router: Router, builder: PayloadBuilder, policy: ContentPolicy = ContentPolicy()) {
        self.router = router
        self.builder = builder
        self.policy = policy
    }

    /// - Throws: every problem of the settings.
    public convenience init(
        table: CategoryTable = .standard, unroutable: UnroutablePolicy = .deadLetter,
        payload: PayloadSettings = PayloadSettings(), policy: ContentPolicy = ContentPolicy()
    ) throws(PayloadProblems) {
        let audience = Audience(
            templates: payload.templates, testTag: policy.testTag, users: policy.users,
            interests: policy.interests)
        self.init(
            router: try Router(
                table: table, unroutable: unroutable, audience: audience, localization: payload.localization),
            builder: try PayloadBuilder(payload), policy: policy)
    }

    /// The treatment of a routed event at a wall clock time. Nearly free without quiet hours.
    public func treatment(of event: NewsEvent, _ routing: Routing.Tagged, at wall: Instant) -> Treatment {
        policy.quietHours.isEmpty
            ? .send
            : policy.quietHours.treatment(
                of: event, in: routing.topics, at: wall, canBeSilent: builder.settings.canBeSilent)
    }
}
