import ByteText
public import NotificationHub

/// The state and outcomes of one send, as `GET /messages/{id}` returns them.
public struct NotificationTelemetry: Sendable, Hashable {
    public typealias State = NotificationDetails.State

    public struct Count: Sendable, Hashable {
        public var platform: Platform
        public var isTemplate: Bool
        public var outcome: PushOutcome
        public var count: Int
    }

    public internal(set) var state = State.enqueued
    public internal(set) var start: HubTime?
    public internal(set) var end: HubTime?
    /// The counts, in the order in which the combinations first occurred.
    public internal(set) var counts: [Count] = []

    mutating func add(_ outcome: PushOutcome, platform: Platform, isTemplate: Bool) {
        if let index = counts.firstIndex(where: {
            $0.platform == platform && $0.isTemplate == isTemplate && $0.outcome == outcome
        }) {
            counts[index].count += 1
        } else {
            counts.append(Count(platform: platform, isTemplate: isTemplate, outcome: outcome, count: 1))
        }
    }

    init() {}

    /// The telemetry that the service would report this long after the send. Counts grow step by step.
    /// - Returns: `nil` before the send becomes visible.
    func seen(after milliseconds: Int64, sentAt sent: HubTime, by times: TelemetryTimes) -> NotificationTelemetry? {
        if milliseconds < times.hiddenMilliseconds { return nil }
        guard state == .completed || state == .noTargetFound || state == .processing else { return self }
        let begin = times.hiddenMilliseconds + times.enqueuedMilliseconds
        let total = begin + times.processingMilliseconds
        guard total > 0 else { return self }
        var seen = self
        if milliseconds < begin {
            (seen.state, seen.start, seen.end, seen.counts) = (.enqueued, nil, nil, [])
            return seen
        }
        seen.start = max(start ?? sent, sent.advanced(byMilliseconds: begin))
        if milliseconds < total {
            (seen.state, seen.end) = (.processing, nil)
            for index in seen.counts.indices {
                let share = Int64(seen.counts[index].count) * (milliseconds - begin) / times.processingMilliseconds
                seen.counts[index].count = Int(share)
            }
        } else if let end {
            seen.end = max(end, sent.advanced(byMilliseconds: total))
        }
        return seen
    }

    /// Reads the form that `json` writes; `nil` for anything else.
    init?(json: JSONTree) {
        guard let state = json["state"]?.string.flatMap(State.init(rawValue:)),
            case .array(let values)? = json["outcomes"]
        else { return nil }
        self.state = state
        start = json["start"]?.string.flatMap(HubTime.init(clientText:))
        end = json["end"]?.string.flatMap(HubTime.init(clientText:))
        for value in values {
            guard let platform = value["platform"]?.string.flatMap({ Platform(headerValue: $0) }),
                let outcome = value["outcome"]?.string.flatMap(PushOutcome.init(rawValue:)),
                let count = value["count"]?.integer
            else { return nil }
            let isTemplate = value["template"] == .bool(true)
            counts.append(Count(platform: platform, isTemplate: isTemplate, outcome: outcome, count: count))
        }
    }

    var json: JSONTree {
        let outcomes = counts.map { count -> JSONTree in
            [
                "platform": .string(count.platform.rawValue), "template": .bool(count.isTemplate),
                "outcome": .string(count.outcome.rawValue), "count": .integer(count.count),
            ]
        }
        return [
            "state": .string(state.rawValue), "start": .text(start?.description), "end": .text(end?.description),
            "outcomes": .array(outcomes),
        ]
    }

    /// The platforms in the order in which the service counts their outcomes.
    private static let ordered: [Platform] = {
        let first: [Platform] = [.apple, .windowsphone, .windows, .gcm]
        return first + Platform.native.filter { !first.contains($0) }
    }()

    /// The `NotificationDetails` of a send.
    /// - Parameter errorDetails: the address of the platforms' error reports for refused pushes.
    static func xml(_ message: ReceivedMessage, location: String, errorDetails: String? = nil) -> String {
        let telemetry = message.telemetry
        let time = { (time: HubTime) in time.iso(fractionDigits: 3) }
        var out = "<NotificationDetails xmlns=\"\(RegistrationXML.namespace)\" xmlns:i=\"\(RegistrationXML.instance)\">"
        out += "<NotificationId>\(XMLText.escaped(message.id))</NotificationId>"
        out += "<Location>\(XMLText.escaped(location))</Location><State>\(telemetry.state.rawValue)</State>"
        out += "<EnqueueTime>\(time(message.time))</EnqueueTime>"
        if let start = telemetry.start { out += "<StartTime>\(time(start))</StartTime>" }
        if let end = telemetry.end { out += "<EndTime>\(time(end))</EndTime>" }
        let body = String(validating: message.body, as: UTF8.self) ?? Base64.encode(message.body)
        out += "<NotificationBody>\(XMLText.escaped(body))</NotificationBody>"
        if let tags = message.tags { out += "<Tags>\(XMLText.escaped(tags))</Tags>" }
        out += "<TargetPlatforms>\(telemetry.targets(message.format))</TargetPlatforms>"
        for platform in ordered {
            let name = "\(platform.facts.service)OutcomeCounts"
            let counts = telemetry.counts.filter { $0.platform == platform }
            guard !counts.isEmpty else { continue }
            out += "<\(name)>"
            for outcome in PushOutcome.allCases {
                let total = counts.reduce(0) { $1.outcome == outcome ? $0 + $1.count : $0 }
                guard total > 0 else { continue }
                out += "<Outcome><Name>\(outcome.rawValue)</Name><Count>\(total)</Count></Outcome>"
            }
            out += "</\(name)>"
        }
        if let errorDetails { out += "<PnsErrorDetailsUri>\(XMLText.escaped(errorDetails))</PnsErrorDetailsUri>" }
        return out + "</NotificationDetails>"
    }

    /// The platforms that received the send, natively or by template; otherwise the send's format.
    private func targets(_ format: Platform) -> String {
        var names: [String] = []
        for count in counts {
            let name = count.platform.rawValue + (count.isTemplate ? "template" : "")
            if !names.contains(name) { names.append(name) }
        }
        return names.isEmpty ? format.rawValue : names.joined(separator: ",")
    }
}
