import ByteText
import EditorialControl
import Foundation
import HTTPTypes
import Hummingbird
import NewsModel

/// A request to `/api/control/…` that gives an order, from a page or a program.
struct OrderRequest {
    enum Verb: String {
        case recall, lift, stop, resume
    }

    let verb: Verb

    /// The allowed parameters of the query: `story` or `what`, `reason`, `by`, `unseen`.
    private var parameters: [String] {
        switch verb {
        case .recall: ["story", "reason", "by", Self.unseen, "replace"]
        case .lift: ["story", "reason", "by"]
        case .stop, .resume: ["what", "reason", "by"]
        }
    }

    /// The parameter that recalls a name that was never seen, if it is `true`.
    private static let unseen = "unseen"

    /// Returns true if the story is recalled without looking up its name.
    func isUnseen(_ query: FormFields) -> Bool { query[Self.unseen] == "true" }

    /// - Returns: `nil` if the path is not an order's.
    init?(path: String) {
        let prefix = "/api/control/"
        guard path.hasPrefix(prefix), let verb = Verb(rawValue: String(path.dropFirst(prefix.count))) else {
            return nil
        }
        self.verb = verb
    }

    /// - Parameters:
    ///   - caller: the caller's address, appended to the name in the request because a page cannot know it.
    ///   - rules: the checks that `newswire stop` and `newswire recall` also make.
    /// - Returns: the order, or a sentence about the problem.
    func instruction(
        _ query: FormFields, caller: String, rules: OrderRules, at now: Instant
    ) -> Result<Instruction, Problem> {
        if let unknown = query.unknown(besides: parameters) {
            return .failure(
                Problem(
                    "There is no parameter '\(unknown.prefix(40))': an order takes \(parameters.joined(separator: ", ")), "
                        + "and holds at once."))
        }
        if let name = query.repeated { return .failure(Problem("The parameter \(name) is given twice.")) }
        guard ["true", "false"].contains(query[Self.unseen] ?? "false") else {
            return .failure(Problem("The parameter \(Self.unseen) is true or false."))
        }
        let scope: ControlScope
        switch verb {
        case .recall, .lift: scope = .recall(story: query["story"] ?? "")
        case .stop, .resume:
            guard let gate = query["what"].flatMap({ Gate(word: $0) }) else {
                return .failure(Problem("Say what: ?what=hub, or lane:…, category:…, interest:…, feed:…, run:…"))
            }
            scope = .stop(gate)
        }
        func text(_ name: String) -> String? { query[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } }
        let name = query["by"]?.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
        var order = Instruction(
            id: UUID().uuidString.lowercased(), scope: scope, lifts: verb == .lift || verb == .resume, at: now,
            by: "\(name.isEmpty ? "somebody" : name) (dashboard, \(caller))", reason: text("reason"))
        order.replacement = text("replace")
        if query["replace"] != nil, order.replacement == nil {
            return .failure(Problem("The replacement has no text. Leave out replace to recall without one."))
        }
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
