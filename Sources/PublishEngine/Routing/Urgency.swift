import NewsModel

/// How much a notification may disturb its reader.
enum Urgency: Sendable, Hashable {
    /// Wakes the phone: delivered at once, with a sound.
    case breaking
    /// Delivered when it costs the battery nothing, silently.
    case routine

    /// Breaking is what stands on the most urgent lane, unless the event calls itself less urgent than 3 (IPTC: 1 to 3
    /// are flash, bulletin and urgent). On the lanes below nothing is: an archive replayed on a Sunday wakes nobody,
    /// whatever its events once were.
    /// - Parameter lane: the lane's place in the settings, 0 being the most urgent.
    init(of event: NewsEvent, lane: Int) {
        self = lane == 0 && event.urgency ?? 1 <= 3 ? .breaking : .routine
    }
}
