import ByteText
import NotificationHub
package import PublishEngine

/// Decides if a command may publish a number of events. A backfill disturbs nobody, unless the operator has typed how many
/// events will ring.
package struct PublishPermission: Sendable, Hashable {
    /// True if the lane is the most urgent one, whose events ring.
    package var isUrgentLane: Bool
    /// True if the operator named the lane.
    package var isLaneNamed: Bool
    package var rings: Bool
    /// The number of events that the operator typed.
    package var confirmed: Int?

    package init(isUrgentLane: Bool, isLaneNamed: Bool, rings: Bool, confirmed: Int?) {
        self.isUrgentLane = isUrgentLane
        self.isLaneNamed = isLaneNamed
        self.rings = rings
        self.confirmed = confirmed
    }

    /// Maximum events that the most urgent lane takes without confirmation: enough for a night of news, not for an archive.
    package static let unconfirmedMax = 100
    package static let remedy = "type the exact number of events after --confirm"

    /// True if the events get the header that keeps phones from ringing.
    package var isSilent: Bool { !isUrgentLane && !rings }

    /// True if the events must be counted before the first one is published.
    package var needsCount: Bool { isUrgentLane || rings || confirmed != nil }

    /// Maximum events that may be published if they cannot be counted first; `nil` for any number.
    package var countMax: Int? {
        guard needsCount else { return nil }
        guard let confirmed else { return rings ? 0 : Self.unconfirmedMax }
        return isUrgentLane && !isLaneNamed ? min(confirmed, Self.unconfirmedMax) : confirmed
    }

    /// The reason why phones would ring although they must not; `nil` if they would not.
    package func refusal(_ payload: PayloadSettings) -> String? {
        guard isSilent, !payload.canBackfillSilently else { return nil }
        let reason =
            switch payload.mode {
            case .template: "in template mode the devices' template decides, and payload.templates names no quiet one"
            case .native(let platforms):
                platforms.filter { $0.facts.background == nil }.map(\.rawValue).joined(separator: " and ")
                    + " has no silent form"
            }
        return
            "these devices would ring: \(reason). Name the app's templates in payload.templates, e.g. {normal: breakingNews, quiet: breakingNewsQuiet}, or let them ring with --ring --confirm and the number of events"
    }

    /// The reason why this number of events is refused; `nil` if it is allowed.
    package func refusal(count: Int) -> String? {
        let events = counted(count, "event")
        if let confirmed {
            if confirmed != count { return "\(events), and not the \(grouped(confirmed)) of --confirm" }
            if isUrgentLane, count > Self.unconfirmedMax, !isLaneNamed {
                return "\(events) on the most urgent lane, which rings: name it with --lane too, if that is meant"
            }
            return nil
        }
        if rings { return "\(events) would ring phones: if that is meant, \(Self.remedy), with --confirm \(count)" }
        guard isUrgentLane, count > Self.unconfirmedMax else { return nil }
        return
            "\(events) are no backfill for the most urgent lane, which rings and takes \(Self.unconfirmedMax) unconfirmed: choose a lane below it, or name it with --lane and \(Self.remedy), with --confirm \(count)"
    }
}
