import KafkaModel
import NewsModel

/// The degree to which a notification may disturb its reader.
enum Urgency: Sendable, Hashable {
    /// Wakes the phone: delivered at once, with a sound.
    case breaking
    /// Delivered when it costs the battery nothing, silently.
    case routine
    /// As `routine`, and the screen stays dark: in quiet hours.
    case quiet
    /// Not shown at all: data for the app, as of an archive. In template mode the quiet template is the nearest to it.
    case background

    /// Events on the most urgent lane are breaking, unless they call themselves less urgent than 3 (IPTC: 1 to 3 are flash,
    /// bulletin and urgent). Events on the lanes below never are: an archive replayed on a Sunday must not wake readers,
    /// however urgent its events once were.
    init(of event: NewsEvent, lane: LaneID) {
        self = lane.index == 0 && event.urgency ?? 1 <= 3 ? .breaking : .routine
    }
}
