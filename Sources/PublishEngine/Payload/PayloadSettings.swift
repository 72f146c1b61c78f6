public import NewsModel

/// The payloads to send: one template payload per event, or one native payload per platform.
public struct PayloadSettings: Sendable, Hashable {
    public var mode: Mode
    /// The text a phone shows, as a `MessageTemplate`.
    public var message: String

    public enum Mode: Sendable, Hashable {
        /// The hub expands one payload through each device's own template.
        case template
        /// In the order in which an event is sent.
        case native([Platform])
    }

    public init(mode: Mode = .template, message: String = PayloadSettings.standardMessage) {
        self.mode = mode
        self.message = message
    }

    /// The text of the tutorials.
    public static let standardMessage = "Breaking {{category}} News : {{headline}}"

    /// The platforms that each event is delivered for, in order.
    public var platforms: [Platform] {
        switch mode {
        case .template: [.template]
        case .native(let platforms): platforms
        }
    }

    /// Problems of the settings, the message's included.
    public var problems: [PayloadProblem] {
        platformProblems + MessageTemplate.problems(in: message)
    }

    private var platformProblems: [PayloadProblem] {
        guard case .native(let platforms) = mode else { return [] }
        func problem(_ message: String, _ remedy: String) -> PayloadProblem {
            PayloadProblem(path: ["payload", "platforms"], message: message, remedy: remedy)
        }
        let known = Platform.allCases.filter { $0 != .template }.map(\.rawValue).joined(separator: ", ")
        if platforms.isEmpty { return [problem("native mode names no platform", "name at least one of \(known)")] }
        var problems: [PayloadProblem] = []
        if platforms.contains(.template) {
            problems.append(problem("template is no native platform", "set payload.mode to template, or name \(known)"))
        }
        for platform in Platform.allCases where platforms.filter({ $0 == platform }).count > 1 {
            problems.append(
                problem("\(platform.rawValue) is named more than once", "name it once: each name is one send"))
        }
        return problems
    }
}
