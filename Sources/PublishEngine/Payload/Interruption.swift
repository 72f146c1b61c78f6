public import KafkaModel
import NewsModel

/// The degree to which a notification may disturb its reader. The raw values are words of the settings.
public enum UrgencyClass: String, Sendable, Hashable, CaseIterable {
    /// Wakes the phone: delivered at once, with a sound.
    case breaking
    /// Delivered when it costs the battery nothing, silently.
    case routine
    /// Like `routine`, but the screen stays dark.
    case quiet
    /// Not shown: data for the app, e.g. from an archive. In template mode the quiet template comes closest.
    case background
}

/// The class of each urgency that an event can have: `payload.interruption`.
public struct Interruption: Sendable, Hashable {
    /// The classes of the urgencies 1 to 9, at these indices. Index 0 has the class of an event without an urgency.
    private var classes: [UrgencyClass]

    /// The classes that an urgency may have.
    public static let classes = UrgencyClass.allCases.filter { $0 != .background }

    /// - Parameter classes: those that differ from the usual ones, under the urgencies 1 to 9, or 0 for none. Others are ignored.
    public init(_ classes: [Int: UrgencyClass] = [:]) {
        // IPTC's 1 to 3 are flash, bulletin and urgent. The name of a category alone must not wake anybody.
        self.classes = (0...9).map { classes[$0] ?? ((1...3).contains($0) ? .breaking : .routine) }
    }

    /// Events on lower lanes are never breaking, because an archive replayed on a Sunday must not wake readers.
    func `class`(of event: borrowing NewsEvent, lane: LaneID) -> UrgencyClass {
        let found = self[event.urgency]
        return found == .breaking && lane.index > 0 ? .routine : found
    }

    /// The event makes no sound at any hour.
    func isQuiet(_ event: borrowing NewsEvent) -> Bool { self[event.urgency] == .quiet }

    var hasQuiet: Bool { classes.contains(.quiet) }

    private subscript(urgency: Int?) -> UrgencyClass { classes[min(max(urgency ?? 0, 0), 9)] }
}

/// The time for which push services keep a notification for a phone that is off: `payload.timeToLive`.
public struct TimeToLive: Sendable, Hashable {
    /// The upper bound for any platform. FCM accepts no longer time.
    public static let longest = Duration.seconds(28 * 86_400)

    /// A day by default, so that a phone that was off overnight gets the news in the morning.
    public var standard = Duration.seconds(86_400)
    public var lanes: [LaneID: Duration] = [:]
    /// The time of a class counts before that of a lane.
    public var classes: [UrgencyClass: Duration] = [:]

    public init() {}

    func duration(_ urgency: UrgencyClass, lane: LaneID) -> Duration {
        if lanes.isEmpty, classes.isEmpty { return standard }
        return classes[urgency] ?? lanes[lane] ?? standard
    }
}
