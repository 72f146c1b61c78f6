import ByteText
package import EditorialControl
package import NewsModel
import NewswireSettings

/// Reports the fate of a replacement that was written. It is sent like all news, so a stop delays it too.
package struct ReplacementReport {
    private let written: WrittenReplacement
    private let story: String
    private let stops: [Order]
    private let isConfirmed: Bool
    private let doubts: StoryDoubts

    /// - Parameters:
    ///   - doubts: what was not known when the recall had been answered.
    ///   - lanes: the names of the lanes that the replacement was written to.
    ///   - view: the control topic, read after the recall.
    package init(
        _ written: WrittenReplacement, of story: String, lanes: Set<String>, _ view: ControlView, isConfirmed: Bool,
        _ doubts: StoryDoubts, at wall: Instant
    ) {
        self.doubts = written.remaining(doubts)
        self.written = written
        self.story = story
        self.isConfirmed = isConfirmed
        let categories = Set(written.reach.map { $0.lowercased() })
        stops = view.standing(at: wall).filter { order in
            switch order.scope {
            case .stop(.hub): true
            case .stop(.lane(let name)): lanes.contains(name)
            case .stop(.category(let name)): categories.contains(name.lowercased())
            case .stop, .recall: false
            }
        }
    }

    package var sentence: String {
        if written.reach.isEmpty { return nothing.plain }
        let doubt =
            written.doubtful.isEmpty
            ? ""
            : ". It is not known if the hub took \(story) for \(written.doubtful.joined(separator: ", ")) too: nothing is "
                + "replaced there"
        return fate + doubt.plain
    }

    private var nothing: String {
        if !written.doubtful.isEmpty {
            return "nothing was replaced, because it is not known if the hub took \(story): the outcome is unknown for "
                + written.doubtful.joined(separator: ", ")
        }
        guard let sentence = doubts.sentence else {
            return "nothing to replace: the hub took nothing of \(story) in the last 7 days"
        }
        return
            "nothing was replaced: no result of the last 7 days says that the hub took any of \(story), but \(sentence)"
    }

    private var fate: String {
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
        return "the readers of \(categories)"
            + (written.reach.contains(Replacement.singleReaders) ? " and to \(Replacement.singleReaders)" : "")
    }
}
