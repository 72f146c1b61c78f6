import HubEmulator
import NotificationHub

/// A send in one line, as the page lists it.
struct SendSummary: Sendable {
    /// The number of body bytes that are searched for a headline.
    static let bodyLengthMax = 4096
    private static let headlineLengthMax = 160

    let time: HubTime
    let json: JSONTree

    init(_ message: ReceivedMessage, phones: ReachedPhones) {
        let failed = PushOutcome.allCases.filter { ![.success, .skipped].contains($0) }.compactMap { outcome in
            let count = phones.count(message, outcome)
            return count > 0 ? JSONTree.string("\(count) \(outcome.rawValue)") : nil
        }
        self.init(
            message.time, tags: message.tags, body: message.body,
            [
                .init("state", .string(message.telemetry.state.rawValue)),
                .init("phones", .integer(phones.count(message, .success))), .init("failed", .array(failed)),
            ])
    }

    init(_ refused: RefusedSend) {
        self.init(
            refused.time, tags: refused.tags, body: refused.body,
            [.init("refused", .string(refused.status.map { "\($0)" } ?? "reset"))])
    }

    private init(_ time: HubTime, tags: String?, body: [UInt8], _ outcome: [JSONTree.Member]) {
        self.time = time
        let tree = JSONTree(parsing: Array(body.prefix(Self.bodyLengthMax)))
        json = .object(
            [
                .init("time", .string(time.description)), .init("tags", .text(tags)),
                .init("event", .text(tree?["id"]?.string)), .init("category", .text(tree?["category"]?.string)),
                .init("headline", .string(Self.headline(tree, body))),
                .init("languages", .integer(Self.languages(tree))),
            ] + outcome)
    }

    /// The number of languages with their own text; 0 for a send without localized texts.
    private static func languages(_ tree: JSONTree?) -> Int {
        Set(PageLanguage.all.compactMap { tree?[$0.property]?.string }).count
    }

    /// The text that a reader would see, in any format.
    private static func headline(_ tree: JSONTree?, _ body: [UInt8]) -> String {
        let alert = tree?["aps"]?["alert"]
        let notification = tree?["message"]?["notification"]
        let texts = [
            tree?["title"], tree?["messageParam"], tree?["message"], alert, alert?["body"], notification?["body"],
            notification?["title"],
        ]
        let text = texts.lazy.compactMap { $0?.string }.first { !$0.isEmpty }
        return String(
            (text ?? String(decoding: body.prefix(headlineLengthMax), as: UTF8.self)).prefix(headlineLengthMax))
    }
}

/// A send that the hub did not accept, as the page lists it.
struct RefusedSend: Sendable {
    let time: HubTime
    let tags: String?
    let body: [UInt8]
    /// The status of the answer; `nil` if the connection was reset instead.
    let status: Int?

    /// - Returns: `nil` for a send that was accepted, and for any other call.
    init?(_ request: HubHTTPRequest, _ response: HubHTTPResponse, at now: HubTime) {
        let isReset = response.transmission == .reset
        guard response.status >= 400, request.method == "POST",
            request.target.prefix(while: { $0 != "?" }).lowercased().contains("/messages")
        else { return nil }
        time = now
        tags = request.headers["ServiceBusNotification-Tags"]
        body = Array(request.body.prefix(SendSummary.bodyLengthMax))
        status = isReset ? nil : response.status
    }
}

/// The phones that sends reached, each counted once. A send that names no template is delivered once for every template
/// of a phone.
struct ReachedPhones {
    private struct Push: Hashable {
        var messageID: String
        var outcome: PushOutcome
    }

    private var handles: [Push: Set<String>] = [:]
    private var pushes: [Push: Int] = [:]

    /// - Parameter deliveries: the newest deliveries; earlier ones are unknown.
    init(_ deliveries: some Sequence<PushedNotification>) {
        for delivery in deliveries {
            let push = Push(messageID: delivery.messageID, outcome: delivery.outcome)
            handles[push, default: []].insert(delivery.handle)
            pushes[push, default: 0] += 1
        }
    }

    /// The phones with this outcome. If some deliveries are unknown, the number of notifications instead.
    func count(_ message: ReceivedMessage, _ outcome: PushOutcome) -> Int {
        let total = message.telemetry.counts.filter { $0.outcome == outcome }.reduce(0) { $0 + $1.count }
        let push = Push(messageID: message.id, outcome: outcome)
        return pushes[push] == total ? handles[push]?.count ?? total : total
    }
}
