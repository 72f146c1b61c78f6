import KafkaModel
import NewsModel

/// Hours in which the readers of some categories want to sleep.
public struct QuietHours: Sendable, Hashable {
    /// The names of categories; empty for all.
    public var categories: [String]
    public var window: DailyWindow
    public var action: Action
    /// Events at least as urgent (1 is the most urgent) leave as by day. An event without an urgency is not urgent.
    public var exceptUrgency: Int?

    /// The action for an event during quiet hours, in the order of strictness.
    public enum Action: String, Sendable, Hashable, CaseIterable {
        /// Sent at once, without a sound.
        case silent
        /// Sent when the window ends.
        case delay
        /// The event is not sent at all.
        case drop
    }

    public init(categories: [String] = [], window: DailyWindow, action: Action, exceptUrgency: Int? = nil) {
        self.categories = categories
        self.window = window
        self.action = action
        self.exceptUrgency = exceptUrgency
    }

    /// Events that waited for the end of a window leave spread over this time.
    package static let releaseSpread = Duration.seconds(600)

    fileprivate func concerns(_ category: String, _ event: borrowing NewsEvent) -> Bool {
        if let exceptUrgency, let urgency = event.urgency, urgency <= exceptUrgency { return false }
        return categories.isEmpty || categories.contains(category)
    }
}

extension [QuietHours] {
    /// The mildest treatment over the event's categories, because all of them get one notification. If some categories'
    /// readers sleep, it makes no sound.
    func treatment(
        of event: borrowing NewsEvent, in categories: [String], at wall: Instant, canBeSilent: Bool
    ) -> Treatment {
        guard !isEmpty, !event.isTest else { return .send }
        switch verdict(on: event, in: categories, at: wall) {
        case nil: return .send
        case (.silent, _)?: return canBeSilent ? .sendSilently : .send
        case (.drop, _)?: return .withhold(.init(.quietHours, "its readers sleep, and the settings drop it then"))
        case (.delay, var end)?:
            // The next window may begin where one ends. After a week of windows it is checked again later.
            var windows = 1
            while windows < 8,
                case (.delay, let later)? = verdict(on: event, in: categories, at: end),
                later > end
            {
                end = later
                windows += 1
            }
            return .hold(until: end + Self.spread(of: event.orderKey))
        }
    }

    private func verdict(
        on event: borrowing NewsEvent, in categories: [String], at wall: Instant
    ) -> (QuietHours.Action, end: Instant)? {
        var mildest: QuietHours.Action?
        var isAwake = false
        var end = Instant.distantPast
        for category in categories {
            var strictest: QuietHours.Action?
            for hours in self where hours.concerns(category, event) {
                guard let windowEnd = hours.window.end(at: wall) else { continue }
                if strictest.map({ $0.strictness < hours.action.strictness }) ?? true { strictest = hours.action }
                if hours.action == .delay { end = Swift.max(end, windowEnd) }
            }
            guard let strictest else {
                isAwake = true
                continue
            }
            if mildest.map({ strictest.strictness < $0.strictness }) ?? true { mildest = strictest }
        }
        return mildest.map { (isAwake ? .silent : $0, end) }
    }

    /// The delay after the window, equal for all versions of a story so that they come back in order.
    private static func spread(of orderKey: String) -> Duration {
        let seconds = UInt64(QuietHours.releaseSpread.components.seconds)
        return .seconds(Int64(RecentDeliveries.story(orderKey, platform: 0).value % seconds))
    }
}

extension QuietHours.Action {
    fileprivate var strictness: Int {
        switch self {
        case .silent: 0
        case .delay: 1
        case .drop: 2
        }
    }
}
