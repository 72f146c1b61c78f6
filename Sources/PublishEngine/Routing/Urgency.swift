import KafkaModel
import NewsModel

/// The degree to which a notification may disturb its reader.
enum Urgency: Sendable, Hashable {
    /// Wakes the phone: delivered at once, with a sound.
    case breaking
    /// Delivered when it costs the battery nothing, silently.
    case routine
    /// Like `routine`, but the screen stays dark: used in quiet hours.
    case quiet
    /// Not shown: data for the app, e.g. from an archive. In template mode the quiet template comes closest.
    case background

    /// Events on the most urgent lane are breaking, unless their own urgency is above 3 (IPTC 1 to 3: flash, bulletin,
    /// urgent). Events on lower lanes never are, because an archive replayed on a Sunday must not wake readers.
    init(of event: NewsEvent, lane: LaneID) {
        self = lane.index == 0 && event.urgency ?? 1 <= 3 ? .breaking : .routine
    }
}
