import KafkaModel
package import NewsModel
package import PublishEngine

/// Which items of the files are published: those that are events, up to the bounds of the command. Decides the same each time
/// it is given the same items in the same order.
package struct EventSelection {
    /// What is left out on purpose.
    package struct Bounds: Sendable, Hashable {
        package var events: Int?
        package var perCategory: Int?
        /// By the event's `publishedAt`; one without is taken.
        package var age: Duration?

        package init(events: Int? = nil, perCategory: Int? = nil, age: Duration? = nil) {
            self.events = events
            self.perCategory = perCategory
            self.age = age
        }
    }

    package enum Choice {
        case event(NewsEvent, [UInt8])
        case bad(EventReview.Complaint)
        /// Beyond a bound.
        case skipped
    }

    private let review: EventReview
    private let bounds: Bounds
    private let router: Router?
    private let oldest: Instant
    /// Chosen so far.
    private(set) package var count = 0
    private var perCategory: [String: Int] = [:]

    /// - Parameters:
    ///   - router: finds the categories; without one there is no bound per category.
    ///   - start: when the run began, also if this command continues it.
    package init(_ review: EventReview, _ bounds: Bounds = Bounds(), router: Router? = nil, start: Instant) {
        self.review = review
        self.bounds = bounds
        self.router = router
        oldest = bounds.age.map { start - $0 } ?? .distantPast
    }

    /// Items of an earlier command count.
    package var needsAllItems: Bool { bounds.events != nil || bounds.perCategory != nil }

    package mutating func choose(_ item: EventFileItem) -> Choice {
        switch review.event(item) {
        case .failure(let complaint): return .bad(complaint)
        case .success(let (event, bytes)):
            if let time = event.publishedAt, time < oldest { return .skipped }
            if let most = bounds.events, count >= most { return .skipped }
            // News for single readers disturbs no category's.
            if let most = bounds.perCategory, event.users.isEmpty, let router,
                case .tagged(let routing) = router.route(event)
            {
                // An event of several categories goes to the readers of all of them.
                if routing.categories.contains(where: { perCategory[$0, default: 0] >= most }) { return .skipped }
                for category in routing.categories { perCategory[category, default: 0] += 1 }
            }
            count += 1
            return .event(event, bytes)
        }
    }
}
