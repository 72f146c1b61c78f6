import EditorialControl
import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import NewsModel

/// What a page, or a program, asks `/api/control/…` to order.
struct OrderRequest {
    enum Verb: String {
        case recall, lift, stop, resume
    }

    let verb: Verb

    /// Those of the query: `story` or `what`, `reason`, `by`.
    private var parameters: [String] {
        switch verb {
        case .recall, .lift: ["story", "reason", "by"]
        case .stop, .resume: ["what", "reason", "by"]
        }
    }

    /// - Returns: `nil` for another path.
    init?(path: String) {
        let prefix = "/api/control/"
        guard path.hasPrefix(prefix), let verb = Verb(rawValue: String(path.dropFirst(prefix.count))) else {
            return nil
        }
        self.verb = verb
    }

    /// - Parameters:
    ///   - query: the parameters by their names.
    ///   - caller: added to who says to have given it, as the page cannot know.
    /// - Returns: a sentence for what is wrong.
    func instruction(
        _ query: [String: String], caller: String, at now: Instant
    ) -> Result<Instruction, Problem> {
        // Whoever writes "at" or "reson" wants something that would not happen.
        if let unknown = query.keys.filter({ !parameters.contains($0) }).min() {
            return .failure(
                Problem(
                    "There is no parameter '\(unknown.prefix(40))': an order takes \(parameters.joined(separator: ", ")), "
                        + "and holds at once."))
        }
        func parameter(_ name: String) -> String? { query[name] }
        let scope: ControlScope
        switch verb {
        case .recall, .lift:
            guard let story = parameter("story"), !story.isEmpty, story.utf8.count <= EventLimits.story else {
                return .failure(Problem("Name the story: ?story=…, at most \(EventLimits.story) bytes."))
            }
            scope = .recall(story: story)
        case .stop, .resume:
            guard let gate = parameter("what").flatMap({ Gate(word: $0) }), gate.path.utf8.count <= EventLimits.story
            else {
                return .failure(Problem("Say what: ?what=hub, or lane:…, category:…, feed:…, run:…"))
            }
            scope = .stop(gate)
        }
        let reason = parameter("reason").flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        guard reason?.utf8.count ?? 0 <= Instruction.reasonMax else {
            return .failure(Problem("The reason has at most \(Instruction.reasonMax) bytes."))
        }
        let name = parameter("by").map { $0.trimmingCharacters(in: .whitespacesAndNewlines).prefix(64) } ?? ""
        let order = Instruction(
            id: UUID().uuidString.lowercased(), scope: scope, lifts: verb == .lift || verb == .resume, at: now,
            by: "\(name.isEmpty ? "somebody" : String(name)) (dashboard, \(caller))", reason: reason)
        if order.needsReason { return .failure(Problem("This needs a reason: whoever comes after must know why.")) }
        return .success(order)
    }

    struct Problem: Error, Hashable {
        let text: String
        init(_ text: String) { self.text = text }
    }
}
