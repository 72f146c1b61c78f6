import ByteText
import EditorialControl
import Foundation
import HTTPServing
import HTTPTypes
import Hummingbird
import NewsModel

/// A page's, or a program's, request to `/api/control/…` to give an order.
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
    ///   - caller: added to the name that the request gives, because a page cannot know its own address.
    ///   - rules: the checks that `newswire stop` and `newswire recall` make too.
    /// - Returns: the order, or a sentence about the problem.
    func instruction(
        _ query: FormFields, caller: String, rules: OrderRules, at now: Instant
    ) -> Result<Instruction, Problem> {
        // Whoever writes "at" or "reson" wants something that would not happen.
        if let unknown = query.fields.map(\.name).filter({ !parameters.contains($0) }).min() {
            return .failure(
                Problem(
                    "There is no parameter '\(unknown.prefix(40))': an order takes \(parameters.joined(separator: ", ")), "
                        + "and holds at once."))
        }
        if let name = query.repeated { return .failure(Problem("The parameter \(name) is given twice.")) }
        let scope: ControlScope
        switch verb {
        case .recall, .lift: scope = .recall(story: query["story"] ?? "")
        case .stop, .resume:
            guard let gate = query["what"].flatMap({ Gate(word: $0) }) else {
                return .failure(Problem("Say what: ?what=hub, or lane:…, category:…, feed:…, run:…"))
            }
            scope = .stop(gate)
        }
        let reason = query["reason"].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        let name = query["by"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        let order = Instruction(
            id: UUID().uuidString.lowercased(), scope: scope, lifts: verb == .lift || verb == .resume, at: now,
            by: "\(name.isEmpty ? "somebody" : name) (dashboard, \(caller))", reason: reason)
        return Result { () throws(OrderProblem) in try rules.checked(order) }.mapError(Problem.init)
    }

    struct Problem: Error, Hashable {
        let text: String

        init(_ text: String) { self.text = text }

        fileprivate init(_ problem: OrderProblem) {
            text =
                switch problem {
                case .blank(.story): "Name the story: ?story=…"
                default: problem.sentence
                }
        }
    }
}
