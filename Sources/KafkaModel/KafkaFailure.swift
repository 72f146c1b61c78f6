/// A failure between us and Kafka, as a sentence with a remedy. It never holds a password.
public struct KafkaFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// librdkafka's name of the failure, e.g. `_ALL_BROKERS_DOWN` (ours: `_CONFIGURATION`, `_STALE_GENERATION`).
    public var code: String
    /// The client cannot continue; only a restart helps.
    public var isFatal: Bool
    /// The failure may be temporary; the same call can be retried later.
    public var isRetriable: Bool
    /// The failure, in a sentence.
    public var detail: String
    /// The remedy; empty if the detail suffices.
    public var remedy: String

    public init(code: String, isFatal: Bool = false, isRetriable: Bool = false, detail: String, remedy: String = "") {
        self.code = code
        self.isFatal = isFatal
        self.isRetriable = isRetriable
        self.detail = detail
        self.remedy = remedy
    }

    /// The remedy as the end of a sentence: in lower case, without a full stop.
    public var remedyClause: String {
        let clause = remedy.prefix(1).lowercased() + remedy.dropFirst()
        return clause.last == "." ? String(clause.dropLast()) : clause
    }

    public var description: String { remedy.isEmpty ? detail : "\(detail). \(remedy)" }
}

extension KafkaFailure {
    static let tooLarge = "MSG_SIZE_TOO_LARGE"

    /// True for a refusal of a whole batch that a single record may have caused.
    package var isAboutBatch: Bool { [Self.tooLarge, "INVALID_MSG_SIZE", "INVALID_RECORD"].contains(code) }

    public static func configuration(_ detail: String, remedy: String) -> KafkaFailure {
        KafkaFailure(code: "_CONFIGURATION", detail: detail, remedy: remedy)
    }

    /// - Parameter consequence: the rest of the sentence, with its colon.
    package static func missing(topic: String, _ consequence: String = "") -> KafkaFailure {
        KafkaFailure(
            code: "UNKNOWN_TOPIC_OR_PART", detail: "Topic \(topic) \(TopicRules.isMissing)\(consequence)",
            remedy: "Create it: newswire topics --create --config FILE")
    }

    /// The broker refuses this client or its records. The same write fails until settings or rights change.
    public var isRefusal: Bool {
        switch code {
        case "TOPIC_AUTHORIZATION_FAILED", "CLUSTER_AUTHORIZATION_FAILED", "POLICY_VIOLATION", "INVALID_RECORD": true
        default: isFatal
        }
    }

    /// The partition does not exist.
    package var isMissingPartition: Bool {
        ["UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_PARTITION", "_UNKNOWN_TOPIC"].contains(code)
    }

    /// A transaction is open, and records after it cannot be read.
    package static func heldUp(topic: String) -> KafkaFailure {
        KafkaFailure(
            code: openTransaction, isRetriable: true,
            detail: "A transaction on \(topic) is open and hides every record behind it",
            remedy: "Its producer must commit or abort it: see kafka-transactions.sh find-hanging.")
    }

    package var isOpenTransaction: Bool { code == Self.openTransaction }

    private static let openTransaction = "_OPEN_TRANSACTION"

    /// The settings are wrong; only a change of them helps.
    public var isConfiguration: Bool { code == "_CONFIGURATION" }

    public static let staleGeneration = KafkaFailure(
        code: "_STALE_GENERATION", detail: "The partitions were given up before this commit was asked for",
        remedy: "Nothing to do: their next owner continues from the last commit.")

    /// A partition that is read delivered neither records nor an end.
    public static let standstill = KafkaFailure(
        code: "_TIMED_OUT", isRetriable: true, detail: "Nothing came from the partition for 15 seconds",
        remedy: "Check that its leader is there; reading continues without any action.")

    /// The same while other partitions delivered records, so that this one may only have waited for its turn.
    public static let awaitsTurn = KafkaFailure(
        code: "_TIMED_OUT", isRetriable: true,
        detail: "Nothing came from the partition for 15 seconds, while others were read",
        remedy: "Reading continues without any action; should it last, check that its leader is there.")
}
