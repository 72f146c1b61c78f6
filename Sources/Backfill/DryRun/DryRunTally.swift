package import NewsModel

package struct DryRunTally: Sendable, Hashable {
    /// Events that would be published.
    package var events = 0
    package var bad = 0
    /// Events left out because of a bound of the command.
    package var skipped = 0
    /// Numbers of events by expected outcome.
    package var outcomes: [Outcome: Int] = [:]
    /// Accepted events that occur in the files a second time, too far apart to be noticed when they are sent.
    package var repeats = 0
    /// Expired events that are not too old yet when they are written. They are sent if the lane gets more than its floor.
    package var expiredWaiting = 0
    /// Accepted, expired and duplicate events that a newer version or a recall of their story may settle while they wait.
    /// The order of events within milliseconds decides.
    package var overtaken = 0
    /// Accepted and held events for testers only.
    package var tests = 0
    /// Accepted and held events for single readers only.
    package var personal = 0
    /// The readers of personal events, counted once per event.
    package var readers = 0
    /// Accepted and held events for followers of interests, whose devices are not known.
    package var followed = 0
    /// All other accepted and held events, by the names of their categories.
    package var categories: [[String]: Int] = [:]
    package var oldest: Instant?
    package var newest: Instant?

    package init() {}

    package subscript(outcome: Outcome) -> Int { outcomes[outcome, default: 0] }

    mutating func note(_ event: borrowing NewsEvent) {
        events += 1
        guard let time = event.publishedAt else { return }
        oldest = min(oldest ?? time, time)
        newest = max(newest ?? time, time)
    }

    mutating func note(_ outcome: Outcome, _ result: ResultRecord?, isRepeat: Bool) {
        outcomes[outcome, default: 0] += 1
        guard outcome == .accepted || outcome == .held else { return }
        if isRepeat { repeats += 1 }
        if result?.isTest == true {
            tests += 1
        } else if let users = result?.users, !users.isEmpty {
            personal += 1
            readers += users.count
        } else {
            categories[result?.categories ?? [], default: 0] += 1
            if result?.interests.isEmpty == false { followed += 1 }
        }
    }

    /// The number of events for readers of the category. An event of several categories counts in each.
    package func count(of category: String) -> Int {
        categories.reduce(0) { $1.key.contains(category) ? $0 + $1.value : $0 }
    }
}
