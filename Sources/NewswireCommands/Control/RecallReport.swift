import ByteText
package import EditorialControl
import NewsModel

/// Reports what readers already have of a recalled story, and what is not known about it.
package struct RecallReport {
    private let history: StoryHistory
    private let doubts: StoryDoubts

    private static let shownMax = 20

    package init(_ history: StoryHistory, _ doubts: StoryDoubts) {
        self.history = history
        self.doubts = doubts
    }

    /// The lines for people, without characters that a terminal obeys.
    package var lines: [String] {
        let (accepted, unknown) = (history.accepted, history.unknown)
        var lines = accepted.suffix(Self.shownMax).map { "already accepted: \($0.phrase)" }
        lines += unknown.suffix(Self.shownMax).map { "may have been accepted, the outcome is unknown: \($0.phrase)" }
        if lines.isEmpty, history.dropped == 0 { lines.append(nothing) }
        let more = max(accepted.count - Self.shownMax, 0) + max(unknown.count - Self.shownMax, 0) + history.dropped
        if more > 0 { lines.append("and \(counted(more, "event")) more: newswire results has all") }
        if let sentence = doubts.sentence { lines.append(sentence) }
        return lines.map(\.plain)
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
            let them = inFlight == 1 ? "was" : "were"
            reasons.append("\(counted(inFlight, "request")) \(them) in flight when the recall arrived")
        }
        if unanswered > 0 {
            reasons.append(
                "\(counted(unanswered, "process", plural: "processes")) \(unanswered == 1 ? "has" : "have") not answered"
            )
        } else if isUnheard {
            reasons.append("no process has answered")
        }
        if reasons.isEmpty { return nil }
        return
            "more may have been accepted: \(reasons.joined(separator: ", and ")). newswire results shows what is known later"
    }
}

extension StoryHistory.Sent {
    fileprivate var phrase: String { "\(eventID), \(at.short) UTC, for \(readers)" }

    private var readers: String {
        let all = categories + (hasSingleReaders ? [Replacement.singleReaders] : [])
        return (isTest ? "testers of " : "") + (all.isEmpty ? "no category" : all.joined(separator: ", "))
    }
}
