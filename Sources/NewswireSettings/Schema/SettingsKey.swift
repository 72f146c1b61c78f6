import NewsModel

/// One key of the configuration: the only place that says what it may hold. Reading, overriding, printing and the
/// JSON Schema all go by this table.
struct SettingsKey: Sendable {
    /// With `*` for a name of the user's.
    var pattern: SettingsPath
    var kind: Kind
    /// What holds when the key is absent, written as one would write it; `nil` when nothing does.
    var fallback: String?
    var isRequired: Bool
    var isSecret: Bool
    /// A sentence for the person who edits the file.
    var summary: String

    indirect enum Kind: Sendable, Hashable {
        case text
        /// A Kafka topic's name.
        case topic
        /// `host:port`.
        case address
        /// `host:port`, or `off`.
        case listen
        case integer(ClosedRange<Int>)
        /// A whole number, or the word.
        case integerOr(String, ClosedRange<Int>)
        /// Shortest and longest, and whether `none` may stand for "no limit".
        case duration(ClosedRange<Duration>, orNone: Bool)
        /// A whole percentage, and whether `none` may stand for "switched off".
        case percent(orNone: Bool)
        /// In bytes.
        case size(ClosedRange<Int>)
        case choice([String])
        case list(Kind)
    }

    init(
        _ path: String, _ kind: Kind, default fallback: String? = nil, required: Bool = false, secret: Bool = false,
        _ summary: String
    ) {
        pattern = SettingsPath(path)
        self.kind = kind
        self.fallback = fallback
        isRequired = required
        isSecret = secret
        self.summary = summary
    }
}

extension SettingsKey {
    static let all: [SettingsKey] = kafka + lanes + topics + hub + payload + pace + service

    static func at(_ path: SettingsPath) -> SettingsKey? { all.first { path.matches($0.pattern) } }

    private static let kafka = [
        SettingsKey(
            "kafka.bootstrapServers", .list(.address), required: true,
            "The brokers to ask first, as host:port."),
        SettingsKey(
            "kafka.group", .text, default: "newswire",
            """
            The consumer group of the first lane; a further lane reads as {group}.{lane}. Processes with the same group \
            share the work.
            """
        ),
        SettingsKey(
            "kafka.instance", .text,
            "This process's own name, the same after a restart (static membership): a quick restart moves no partitions."
        ),
        SettingsKey(
            "kafka.properties.*", .text,
            "Any librdkafka property, passed through, e.g. security.protocol or sasl.password."),
    ]

    private static let lanes = [
        SettingsKey(
            "lanes.*.topics", .list(.topic), required: true,
            "The topics of the lane. They must have the same number of partitions."),
        SettingsKey(
            "lanes.*.maxAge", .duration(.seconds(1) ... .seconds(366 * 86_400), orNone: true), default: "none",
            "Events older than this are not sent; they end as expired."),
        SettingsKey(
            "lanes.*.floor", .percent(orNone: false), default: "0%",
            "The share of the rate this lane gets even while higher lanes could use all of it."),
        SettingsKey(
            "lanes.*.onUnknown", .choice(["retry", "giveUp"]), default: "retry",
            "After a timeout or a broken connection nobody knows whether the hub took it: try again, or end as unknown."
        ),
        SettingsKey(
            "lanes.*.window.records", .integer(1...1_000_000), default: "2048",
            "How many records of the lane may be held in memory."),
        SettingsKey(
            "lanes.*.window.bytes", .size(65_536...4_294_967_296), default: "16MiB",
            "How many bytes of records of the lane may be held in memory."),
    ]

    private static let topics = [
        SettingsKey(
            "results.topic", .topic, default: "news.results",
            "Where every outcome is written. It needs at least as many partitions as any source topic."),
        SettingsKey(
            "deadLetters.topic", .topic, default: "news.dead-letters",
            "Where records go that could not be delivered, byte for byte."),
    ]

    private static let hub = [
        SettingsKey(
            "hub.connectionString", .text, required: true, secret: true,
            "The hub's connection string with the Send right: Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…"),
        SettingsKey(
            "hub.name", .text,
            "The notification hub's name. May be left out when the connection string has an EntityPath."),
        SettingsKey(
            "hub.connections", .integer(1...1024), default: "64",
            "The most connections to the hub; fewer are used while the hub is slow or refuses."),
        SettingsKey(
            "hub.requestTimeout", .duration(.milliseconds(100) ... .seconds(300), orNone: false), default: "30s",
            "How long to wait for the hub's reply."),
        SettingsKey(
            "hub.connectTimeout", .duration(.milliseconds(100) ... .seconds(60), orNone: false), default: "5s",
            "How long to wait for a connection, TLS included."),
        SettingsKey(
            "hub.trustRoots", .text,
            "A PEM file with the certificate authorities to trust, instead of the system's."),
        SettingsKey(
            "retry.attempts", .integer(1...100),
            """
            The most requests for one delivery, the first included. Unset: until its deadline (its expiresAt or its lane's \
            maxAge), or 20 for one without a deadline.
            """
        ),
        SettingsKey(
            "retry.unknownAttempts", .integer(1...20), default: "5",
            "The most requests for one delivery that may have been accepted: after a timeout, a broken connection, 500, 502 or 504."
        ),
        SettingsKey(
            "retry.firstDelay", .duration(.milliseconds(1) ... .seconds(3600), orNone: false), default: "500ms",
            "The wait before the first retry; it doubles with each further one."),
        SettingsKey(
            "retry.maxDelay", .duration(.milliseconds(1) ... .seconds(86_400), orNone: false), default: "30s",
            "The longest wait between two tries, unless the hub asks for more."),
        SettingsKey(
            "retry.longestPause", .duration(.seconds(1) ... .seconds(86_400), orNone: false), default: "5m",
            "The longest Retry-After that is obeyed; a longer one counts as this."),
    ]

    private static let payload = [
        SettingsKey(
            "payload.mode", .choice(["template", "native"]), default: "template",
            "template: one payload that each device's own template shapes. native: one payload per platform."),
        SettingsKey(
            "payload.platforms", .list(.choice(nativePlatforms)),
            "The platforms to build native payloads for; in template mode it does nothing."),
        SettingsKey(
            "payload.message", .text, default: "Breaking {{category}} News : {{headline}}",
            "The text of the notification, a Mustache template over the event's fields."),
        SettingsKey(
            "categories.*.tag", .text,
            "The hub tag of the category; its name when left out."),
        SettingsKey(
            "categories.*.names", .list(.text),
            "What events may call the category, compared without case; its own name always counts."),
        SettingsKey(
            "categories.*.subjects", .list(.text),
            "IPTC media topics that belong to the category, e.g. medtop:11000000."),
        SettingsKey(
            "unroutable", .text, default: "deadLetter",
            "What becomes of an event without a known category: deadLetter, or the name of a category to send it under."
        ),
    ]

    private static let pace = [
        SettingsKey(
            "rate.perSecond", .integerOr("unlimited", 1...1_000_000), default: "500",
            "The most requests a second to the hub, summed over all processes of the group."),
        SettingsKey(
            "rate.burst", .integer(1...1_000_000), default: "50",
            "How many requests may leave at once after a pause."),
        SettingsKey(
            "floodGuard.share", .percent(orNone: true), default: "50%",
            "Stop and wait for a person when more than this share of recent events is refused: then it is not the events."
        ),
        SettingsKey(
            "floodGuard.events", .integer(10...100_000), default: "500",
            "How many recent events the flood guard looks at."),
    ]

    private static let service = [
        SettingsKey(
            "http.listen", .listen, default: "127.0.0.1:9464",
            "Where health, metrics and the dashboard are served, or off."),
        SettingsKey(
            "http.token", .text, secret: true,
            "Who shows it as a bearer token may pause and resume lanes from elsewhere; without it only this machine may."
        ),
        SettingsKey(
            "shards", .integerOr("auto", 1...64), default: "1",
            "How many event loops share the work, the connections and the rate; one does tens of thousands of events a second. auto is one per core."
        ),
        SettingsKey(
            "shutdown.deadline", .duration(.seconds(1) ... .seconds(600), orNone: false),
            """
            How long a shutdown may wait for replies and results before it gives up. Unset: hub.requestTimeout and 5 seconds \
            more, at least 20 seconds. Whoever stops the process must leave it more time than that.
            """
        ),
        SettingsKey(
            "tracing.otlp.endpoint", .text,
            "Where spans of the hub's requests go, e.g. http://127.0.0.1:4318 (OTLP over HTTP, JSON); none are made without it."
        ),
        SettingsKey(
            "tracing.otlp.headers.*", .text, secret: true,
            "Headers the collector wants, e.g. authorization."),
        SettingsKey(
            "tracing.sampleRatio", .percent(orNone: false), default: "100%",
            "How many of the events without a traceparent are traced; one that has it is traced when it says so."),
        SettingsKey(
            "logging.level", .choice(logLevels), default: "info",
            "The least severe log line that is written."),
        SettingsKey(
            "logging.format", .choice(["auto", "json", "text"]), default: "auto",
            "auto is text on a terminal and JSON lines elsewhere."),
    ]

    static let nativePlatforms = Platform.allCases.filter { $0 != .template }.map(\.rawValue)
    static let logLevels = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
}
