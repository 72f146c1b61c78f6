import NewsModel

/// The `error.code` of a result, for a failure that the engine finds. An undecodable record has a code of
/// `Undecodable.Reason` instead. A refusal by the hub has `status-` with the number of its reply.
public enum FailureCode: String, CaseIterable, Sendable {
    // Routing.
    case noCategory = "no-category"
    case unknownCategory = "unknown-category"
    case unknownSubject = "unknown-subject"
    /// The event names interests that no reader can follow, and no category.
    case unknownInterest = "unknown-interest"
    /// The languages have tags, and the event's language is not in the settings.
    case unknownLanguage = "unknown-language"
    // What may leave at all.
    /// The event is for another environment, or does not say for which.
    case environment
    /// The event is a test, and the settings have no testers.
    case test
    case quietHours = "quiet-hours"
    /// The event must not disturb anybody, but its payloads would ring.
    case wouldRing = "would-ring"
    // The way to the hub.
    case noReply = "no-reply"
    case connectionLost = "connection-lost"
    case unreachable
    case certificate
    case invalidRequest = "invalid-request"
    /// The event needed several sends. The hub accepted some of them, and refused others or did not answer in time.
    case partlyRefused = "partly-refused"
    // The delivery's time and its story.
    case expired
    case tooOld = "too-old"
    case withheld
    case canceled
    case recalled
    case released
    case superseded
    case outdated
    case duplicate
    /// The event waits on the held topic, or its embargo has no end.
    case embargo

    /// False for codes whose outcomes never have a dead letter.
    fileprivate var endsInDeadLetters: Bool {
        switch self {
        case .noCategory, .unknownCategory, .unknownSubject, .unknownInterest, .unknownLanguage, .noReply,
            .connectionLost, .invalidRequest, .partlyRefused:
            true
        // With an attempt that was not answered, these end as `unknown`.
        case .expired, .tooOld, .recalled, .superseded, .outdated: true
        // Given up by an operator.
        case .released: true
        case .environment, .test, .quietHours, .wouldRing, .embargo: false
        case .unreachable, .certificate, .withheld, .canceled, .duplicate: false
        }
    }
}

extension ResultRecord.Failure {
    init(_ code: FailureCode, _ detail: String) { self.init(code: code.rawValue, detail: detail) }
}

/// The reasons under which dead letters are counted. They are a closed set, so that a counter can exist, at 0, before its
/// first dead letter: a series that begins with its first value shows no increase.
public enum DeadLetterReason {
    /// Statuses that hubs are known to answer and that may end a delivery.
    private static let statuses = [400, 408, 413, 429, 500, 502, 503, 504]
    private static let statusPrefix = "status-"
    private static let statusClasses: Set<Character> = ["2", "4", "5"]
    private static let other = "other"

    public static let all: [String] = known.sorted()

    private static let known: Set<String> = {
        var known = Set(Undecodable.Reason.allCases.map(\.rawValue))
        known.formUnion(FailureCode.allCases.filter(\.endsInDeadLetters).map(\.rawValue))
        known.formUnion(statuses.map { "\(statusPrefix)\($0)" })
        known.formUnion(statusClasses.map { "\(statusPrefix)\($0)xx" })
        known.insert(other)
        return known
    }()

    /// The reason that counts a failure: its code, or for a status that no hub is known to answer its class, e.g. `status-4xx`.
    public static func counting(_ code: String) -> String {
        if known.contains(code) { return code }
        guard code.hasPrefix(statusPrefix), code.utf8.count == statusPrefix.utf8.count + 3,
            let first = code.dropFirst(statusPrefix.count).first, statusClasses.contains(first)
        else { return other }
        return "\(statusPrefix)\(first)xx"
    }
}
