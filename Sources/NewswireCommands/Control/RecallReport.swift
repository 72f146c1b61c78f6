import ByteText
package import EditorialControl
import KafkaModel
package import NewsModel

/// Reports what readers already have of a recalled story, and what is not known about it.
package struct RecallReport {
    private let history: StoryHistory
    private let doubts: StoryDoubts

    private static let shownMax = 20

    package init(_ history: StoryHistory, _ doubts: StoryDoubts = StoryDoubts()) {
        (self.history, self.doubts) = (history, doubts)
    }

    /// The lines about what has become known since an earlier reading of the results.
    package func lines(since former: StoryHistory) -> [String] {
        let (accepted, unknown) = (Set(former.accepted), Set(former.unknown))
        let lines =
            history.accepted.filter { !accepted.contains($0) }.map { "accepted meanwhile: \($0.phrase)" }
            + history.unknown.filter { !unknown.contains($0) }.map { "the outcome is unknown: \($0.phrase)" }
        return lines.suffix(Self.shownMax).map(\.plain)
    }

    /// The lines for people, without characters that a terminal obeys.
    package var lines: [String] {
        let (accepted, unknown) = (history.accepted, history.unknown)
        var lines = accepted.suffix(Self.shownMax).map { "already accepted: \($0.phrase)" }
        lines += doubtful
        if lines.isEmpty, history.dropped == 0 { lines.append(nothing) }
        let more = max(accepted.count - Self.shownMax, 0) + max(unknown.count - Self.shownMax, 0) + history.dropped
        if more > 0 { lines.append("and \(counted(more, "event")) more: newswire results has all") }
        if let sentence = doubts.sentence { lines.append(sentence) }
        return lines.map(\.plain)
    }

    /// The lines about what the hub may have accepted: outcomes that are unknown, and sends without a result.
    package var doubtful: [String] {
        let unknown = history.unknown.suffix(Self.shownMax).map {
            "may have been accepted, the outcome is unknown: \($0.phrase)"
        }
        let unsettled = history.sends.unsettled.suffix(Self.shownMax).map {
            "may have been accepted, newswire send has not recorded all outcomes: \($0)"
        }
        return (unknown + unsettled).map(\.plain)
    }

    /// A warning that this concerns the hub of one group only; `nil` if the control topic shows no other group.
    ///
    /// - Parameter replacement: the replacement of the recall, if it has one. It may have reached nobody.
    package static func others(_ groups: [String], _ replacement: WrittenReplacement? = nil) -> String? {
        if groups.isEmpty { return nil }
        let their = replacement == nil ? "" : ", and get no replacement"
        let remedy =
            replacement?.reach.isEmpty ?? true
            ? "" : ", once this replacement has left: a later recall ends one that waits"
        return
            ("warning: the readers of the hub of \(groups.joined(separator: ", ")) are not counted\(their): these results are those "
            + "of one group. Repeat the command with that group's settings\(remedy)").plain
    }

    private var nothing: String {
        doubts.isEmpty
            ? "the hub took nothing of it in the last 7 days"
            : "no result of the last 7 days says that the hub took any of it"
    }
}

extension StoryDoubts {
    /// Says which results may be missing; `nil` without a doubt.
    package var sentence: String? {
        var reasons: [String] = []
        if inFlight > 0 {
            reasons.append(
                inFlight == 1
                    ? "the outcome of 1 request was not stored when the recall arrived"
                    : "the outcomes of \(grouped(inFlight)) requests were not stored when the recall arrived")
        }
        if unanswered > 0 {
            reasons.append(
                "\(counted(unanswered, "process", plural: "processes")) \(unanswered == 1 ? "has" : "have") not answered"
            )
        } else if isUnheard {
            reasons.append("no process has answered")
        }
        if silent > 0 {
            reasons.append(
                "\(counted(silent, "process that has", plural: "processes that have")) fallen silent "
                    + "\(silent == 1 ? "was" : "were") not waited for")
        }
        if lacksResults { reasons.append("results of the last 7 days are missing on their topic") }
        if reasons.isEmpty { return nil }
        // Removed results do not come back.
        let remedy =
            lacksResults && reasons.count == 1
            ? "Publish a text as news if their readers must know of it" : "newswire results shows what is known later"
        return "more may have been accepted: \(reasons.joined(separator: ", and ")). \(remedy)"
    }
}

extension StoryHistory.Sent {
    fileprivate var phrase: String { "\(eventID), \(at.short) UTC, for \(readers)" }

    private var readers: String {
        let all = categories + (hasSingleReaders ? [Replacement.singleReaders] : [])
        return (isTest ? "testers of " : "") + (all.isEmpty ? "no category" : all.joined(separator: ", "))
    }
}

/// Reports the fate of a replacement that was written. It is sent like all news, so a stop delays it too.
package struct ReplacementReport {
    private let written: WrittenReplacement
    private let story: String
    private let stops: [Order]
    private let isConfirmed: Bool
    private let doubts: StoryDoubts
    private let unreached: [String]
    private let reachesAnybody: Bool

    /// - Parameters:
    ///   - unreached: the reasons why not everybody who has the story gets it.
    ///   - reachesAnybody: false if nobody gets it for these reasons.
    ///   - doubts: what was not known when the recall had been answered.
    ///   - lanes: the names of the lanes that the replacement was written to.
    ///   - view: the control topic, read after the recall.
    package init(
        _ written: WrittenReplacement, of story: String, lanes: Set<String>, _ view: ControlView, isConfirmed: Bool,
        _ doubts: StoryDoubts, unreached: [String] = [], reachesAnybody: Bool = true, at wall: Instant
    ) {
        (self.unreached, self.reachesAnybody) = (unreached, reachesAnybody)
        self.doubts = written.remaining(doubts)
        self.written = written
        self.story = story
        self.isConfirmed = isConfirmed
        let audiences = Set(written.reach.map { $0.lowercased() })
        stops = view.standing(at: wall).filter { order in
            switch order.scope {
            case .stop(.hub): true
            case .stop(.lane(let name)): lanes.contains(name)
            case .stop(.category(let name)), .stop(.interest(let name)): audiences.contains(name.lowercased())
            case .stop, .recall: false
            }
        }
    }

    package var sentence: String {
        if let successor = written.successor {
            let fate =
                written.topics.isEmpty
                ? "the replacement does not leave"
                : "what has not left of the replacement for \(readers) does not leave any more"
            return "\(fate): \(successor.undoing(.recall(story: story)))".plain
        }
        if written.reach.isEmpty { return nothing.plain }
        let doubt =
            written.doubtful.isEmpty
            ? ""
            : ". It is not known if the hub took \(story) for \(written.doubtful.joined(separator: ", ")) too: nothing is "
                + "replaced there\(again)"
        return fate + doubt.plain
    }

    private var nothing: String {
        if written.doubtful.contains(Replacement.unnamedReaders) {
            return
                "nothing was replaced: the hub took \(story), but its result was too large for its topic and names no readers"
        }
        if !written.doubtful.isEmpty {
            return "nothing was replaced, because it is not known if the hub took \(story): the outcome is unknown for "
                + written.doubtful.joined(separator: ", ") + again
        }
        guard let sentence = doubts.sentence else {
            return "nothing to replace: the hub took nothing of \(story) in the last 7 days"
        }
        return
            "nothing was replaced: no result of the last 7 days says that the hub took any of \(story), but \(sentence)\(again)"
    }

    /// The remedy if an outcome may still become known.
    private var again: String {
        guard doubts.inFlight > 0 || written.doubtful.contains(Replacement.openSends) else { return "" }
        return ". Recall it again with --replace once newswire results shows the outcome"
    }

    private var fate: String {
        guard unreached.isEmpty else {
            let (whom, others) = reachesAnybody ? ("all who have \(story)", " for the others") : ("anybody", "")
            return
                ("by these settings, the replacement for \(readers) does not reach \(whom): "
                + "\(unreached.joined(separator: "; ")). Publish the text as news\(others), or restore the settings and "
                + "recall \(story) again").plain
        }
        guard let stop = stops.first, case .stop(let gate) = stop.scope else {
            return
                (isConfirmed
                ? "the replacement is on its way to \(readers)"
                : "the replacement for \(readers) waits on its lane: no process has confirmed that it runs. It expires after a day")
                .plain
        }
        return
            ("the replacement for \(readers) waits on its lane: \(gate.phrase) was stopped \(FormerOrder(stop).phrase). It is sent "
            + "once that is resumed, and expires after a day").plain
    }

    private var readers: String {
        let categories = written.reach.filter { $0 != Replacement.singleReaders }.joined(separator: ", ")
        if categories.isEmpty { return Replacement.singleReaders }
        let readers = NewsEvent.story(ofTestKey: story) == nil ? "readers" : "testers"
        return "the \(readers) of \(categories)"
            + (written.reach.contains(Replacement.singleReaders) ? " and to \(Replacement.singleReaders)" : "")
    }
}
