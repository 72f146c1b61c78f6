import Backfill
package import NewsModel
package import NewswireSettings
import NotificationHub
import PublishEngine

/// The explanation that `newswire explain` gives for one event.
package struct EventExplanation: Sendable {
    /// The event's id; `nil` if the event could not be read that far.
    var eventID: String?
    var outcome: Outcome
    var because: String
    var lane: String
    var results: [ResultRecord]
    var requests: [(platform: Platform, request: SendRequest)]
    /// The texts that replace the tags of single readers in tag expressions.
    var shownTags: [(tag: String, shown: String)] = []
    /// Makes pseudonyms of single readers; `nil` to show their ids.
    private let users: UserTags?
    /// The event's own values that have the names of members that iOS reads inside `aps`.
    var outsideAps: [String] = []
    /// The newsroom's own format of the event; `nil` for a built-in one.
    var format: String?
    /// The pointers that gave the event's members, in a format of its own.
    var mapped: [MappedValue] = []

    /// Explains the events of a file one by one.
    package struct Reader {
        private var rehearsal: EngineRehearsal
        private let decoder: NewsDecoder
        private let topic: String?
        private let lane: String
        private let users: UserTags
        private let showsUsers: Bool
        /// The operator's body decides where an event's values go.
        private let hasOwnAppleBody: Bool

        /// - Parameter showsUsers: true to name single readers as in the request, not by their pseudonyms.
        /// - Throws: never for settings that were checked and one of their lanes.
        package init(_ settings: Settings, lane: Int, at wall: Instant, showsUsers: Bool = false) throws {
            users = settings.policy.users
            self.showsUsers = showsUsers
            hasOwnAppleBody = settings.payload.native[.apple] != nil
            let decoders = settings.decoders
            decoder = decoders.make(collectsValues: true)
            topic = settings.engine.lanes[lane].topics.first
            rehearsal = EngineRehearsal(
                settings.engine, try settings.contentRules(), lane: lane, at: wall, decoder: decoders.make())
            self.lane = settings.engine.lanes[lane].name
        }

        /// The headers that `newswire publish` adds to the item's record for its format.
        func marks(of item: EventFileItem) -> [RecordHeader] {
            item.isConverted ? [RecordHeader(HeaderName.format, HeaderName.builtInFormat)] : []
        }

        package mutating func explain(_ value: [UInt8], headers: [RecordHeader] = []) -> EventExplanation {
            let decision = rehearsal.decide(value, headers: headers)
            let event = try? decoder.decode(SourceRecord(offset: 0, value: value, headers: headers), topic: topic)
            var explanation = EventExplanation(decision, event, lane: lane, hiding: showsUsers ? nil : users)
            (explanation.format, explanation.mapped) = (decoder.format, decoder.mappedValues)
            if hasOwnAppleBody { explanation.outsideAps = [] }
            return explanation
        }
    }

    /// - Parameters:
    ///   - event: the event; `nil` if it could not be read.
    ///   - users: the rule for tags of single readers, to show pseudonyms instead; `nil` shows the tags.
    init(
        _ decision: EngineRehearsal.Decision, _ event: NewsEvent?, lane: String, isBackfill: Bool = false,
        hiding users: UserTags?
    ) {
        let result = decision.results.first
        outcome = result?.outcome ?? .held
        eventID = result?.eventID ?? event?.id
        because = Self.because(decision, event, isBackfill)
        self.lane = lane
        results = decision.results
        requests = decision.requests
        self.users = users
        outsideAps = event?.data.map(\.name).filter(Self.namesInAps.contains) ?? []
        guard let users, let event else { return }
        shownTags = event.users.compactMap { id in
            (try? users.tag(of: id)).map { ($0.text, "user:\(users.pseudonym(of: id))") }
        }
    }

    private static let namesInAps: Set = [
        "alert", "badge", "content-available", "filter-criteria", "interruption-level", "mutable-content",
        "relevance-score", "sound", "target-content-id", "thread-id",
    ]

    private static func because(
        _ decision: EngineRehearsal.Decision, _ event: NewsEvent?, _ isBackfill: Bool
    ) -> String {
        guard let result = decision.results.first else {
            let until = decision.due ?? event?.embargoUntil
            return until.map { "it waits until \($0)" } ?? "it waits behind an older version of its story"
        }
        if let failure = result.error { return failure.detail }
        if let due = decision.due { return "it waits until \(due)" }
        if result.isTest { return "a test, for the testers only" }
        if result.isQuiet {
            return isBackfill ? "without a sound" : "without a sound, in quiet hours or by its urgency"
        }
        return "nothing is against it"
    }

    // MARK: For programs

    package var json: String {
        JSONLine.object { json in
            if let eventID { json.field("eventId", eventID) } else { json.null("eventId") }
            json.field("outcome", outcome.rawValue)
            json.field("because", because)
            json.field("lane", lane)
            json.field("format", format)
            if !mapped.isEmpty {
                json.array("mapped") { json in
                    for value in mapped {
                        json.object { json in
                            json.field("member", value.member)
                            json.field("pointer", value.pointer)
                            json.field("value", shown(value))
                        }
                    }
                }
            }
            json.array("routing") { json in
                for reason in routing {
                    json.object { json in
                        json.field("category", reason.category)
                        json.field("because", reason.because)
                    }
                }
            }
            if !interests.isEmpty { json.array("interests", of: interests) }
            json.field("tagExpression", tagExpression)
            if sends > 1 { json.field("sends", sends) }
            if isQuiet { json.field("quiet", QuietHours.Action.silent.rawValue) }
            if isTest { json.field("test", true) }
            if !leftOut.isEmpty { json.array("leftOut", of: leftOut) }
            if !filled.isEmpty { json.array("filled", of: filled) }
            if let users = results.first?.users, !users.isEmpty { json.array("users", of: users) }
            json.array("requests") { json in
                for (index, (platform, request)) in requests.enumerated() {
                    json.object { json in
                        json.field("platform", platform.rawValue)
                        json.object("headers") { json in
                            for field in fields(of: request) { json.field(named: field.name, field.value) }
                        }
                        json.field("body", String(decoding: request.body, as: UTF8.self))
                        let cut = cut(index)
                        if !cut.isEmpty { json.array("cut", of: cut) }
                        if let note = note(on: platform) { json.field("note", note) }
                    }
                }
            }
        }
    }

    private var routing: [ResultRecord.Reason] { results.first?.routing ?? [] }
    private var interests: [String] { results.first?.interests ?? [] }
    private var sends: Int { results.first?.sends ?? 0 }
    private var leftOut: [String] { results.first?.leftOut ?? [] }
    /// The languages whose readers get the fallback's text.
    private var filled: [String] { results.first { $0.platform == .template }?.filled ?? [] }
    private var isQuiet: Bool { results.first?.isQuiet ?? false }
    private var isTest: Bool { results.first?.isTest ?? false }
    private var tagExpression: String? { requests.first.map { shown($0.request.tags) } }

    /// The value; a pseudonym for a single reader.
    private func shown(_ value: MappedValue) -> String {
        guard value.member == EventMember.users.rawValue, let users else { return value.value }
        return "user:\(users.pseudonym(of: value.value))"
    }

    private func shown(_ expression: String) -> String {
        shownTags.reduce(expression) { $0.replacing($1.tag, with: $1.shown) }
    }

    private func cut(_ index: Int) -> [String] {
        results.first { $0.platform == requests[index].platform }?.cut ?? []
    }

    private func note(on platform: Platform) -> String? {
        guard platform == .apple, !outsideAps.isEmpty else { return nil }
        let names = outsideAps.map { "data.\($0)" }.joined(separator: ", ")
        return "\(names) went beside aps, for the app to read; iOS looks for them inside aps only"
    }

    /// The header fields that describe the event. The one that authenticates the sender is never shown.
    private func fields(of request: SendRequest) -> [HeaderField] {
        [
            HeaderField("Content-Type", request.contentType),
            HeaderField("ServiceBusNotification-Format", request.format.rawValue),
            HeaderField("ServiceBusNotification-Tags", shown(request.tags)),
        ] + request.fields
    }

    // MARK: For people

    package func text(hasColours: Bool) -> String {
        // No hub was asked, so `accepted` is shown as `sent`, the expected outcome.
        let word = outcome == .accepted ? "sent" : outcome.rawValue
        let coloured = hasColours ? outcome.colour.applied(to: word) : word
        var lines = ["\(eventID?.plain ?? "?"): \(coloured), \(because.plain)"]
        if let format { lines.append("  format \(format.plain)") }
        lines += mapped.map { "    \($0.member.plain): \($0.pointer?.plain ?? "else") gave \(shown($0).plain)" }
        lines += routing.map { "  \($0.category.plain): \($0.because.plain)" }
        if !interests.isEmpty { lines.append("  followers of \(interests.joined(separator: ", ").plain)") }
        if sends > 1 { lines.append("  \(sends) sends, one after the other") }
        if !leftOut.isEmpty { lines.append("  no room for \(leftOut.joined(separator: ", ").plain)") }
        if !filled.isEmpty { lines.append("  filled from the fallback: \(filled.joined(separator: ", ").plain)") }
        for (index, (platform, request)) in requests.enumerated() {
            let cut = cut(index)
            lines.append("  \(platform.rawValue)" + (cut.isEmpty ? "" : ", cut: \(cut.joined(separator: ", ").plain)"))
            if let note = note(on: platform) { lines.append("    \(note.plain)") }
            lines += fields(of: request).map { "    \($0.name): \($0.value.plain)" }
            lines.append("    " + String(decoding: request.body, as: UTF8.self).plain)
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
