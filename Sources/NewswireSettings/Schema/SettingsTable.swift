import HubIO
import HubModel
import Logging
import NotificationHub
import PublishEngine
import StatusServer

/// Every setting. A default that belongs to a component is taken from the component.
extension SettingsKey {
    package static let all: [SettingsKey] =
        kafka + lanes + topics + formats + hub + payload + ownPayloads + localization + policy + interests + pace
        + service
        + control + telemetry + ingest + prices

    private static let engine = EngineSettings(lanes: [], platforms: [], resultsTopic: "")
    private static let limits = SenderLimits(connections: engine.connections)
    private static let lane = LaneSettings(name: "", topics: [])

    private static let kafka = [
        SettingsKey(
            "kafka.bootstrapServers", .list(.address), required: true,
            "The brokers to contact first, as host:port."),
        SettingsKey(
            "kafka.group", .text, default: "newswire",
            """
            The consumer group of the first lane; every other lane reads as {group}.{lane}. Processes with the same \
            group share the work.
            """),
        SettingsKey(
            "kafka.instance", .text,
            """
            A name for this process that stays the same after a restart (static membership): a quick restart moves no \
            partitions.
            """),
        SettingsKey(
            "kafka.properties.*", .text,
            "Any librdkafka property, passed through, e.g. security.protocol or sasl.password."),
        SettingsKey(
            "kafka.oauth.tokenEndpoint", .text,
            """
            The address at which an identity provider issues tokens for the brokers (OAUTHBEARER), e.g. \
            https://login.example/oauth2/v2.0/token. Tokens are renewed before they end.
            """),
        SettingsKey("kafka.oauth.clientId", .text, "The name of this program at the identity provider."),
        SettingsKey("kafka.oauth.clientSecret", .text, secret: true, "Its secret at the identity provider."),
        SettingsKey(
            "kafka.oauth.scope", .text,
            "The scope of the tokens, e.g. https://NAMESPACE.servicebus.windows.net/.default for Event Hubs."),
        SettingsKey(
            "kafka.oauth.trustRoots", .text,
            "A PEM file with the certificate authorities to trust for the token endpoint instead of the system's."),
        SettingsKey(
            "kafka.oauth.tokenFile", .text,
            """
            Instead of a token endpoint: a file that another program keeps up to date, such as the token of a service \
            account in Kubernetes. It is read at each renewal.
            """),
        SettingsKey(
            "kafka.oauth.extensions.*", .text,
            "SASL extensions that the brokers require, e.g. logicalCluster and identityPoolId for Confluent Cloud."),
    ]

    private static let lanes = [
        SettingsKey(
            "lanes.*.topics", .list(.topic), required: true,
            "The topics of the lane. They must have the same number of partitions."),
        SettingsKey(
            "lanes.*.maxAge", .duration(.seconds(1) ... .seconds(366 * 86_400), orNone: true),
            default: lane.maxAge.map(SettingsValue.text) ?? "none",
            "Events older than this are not sent; they end as expired."),
        SettingsKey(
            "lanes.*.floor", .percent(orNone: false), default: "\(lane.floorPercent)%",
            "The share of the rate that this lane gets even when higher lanes could use all of it."),
        SettingsKey(
            "lanes.*.onUnknown", .choice(LaneSettings.UnknownPolicy.allCases.map(\.rawValue)),
            default: lane.onUnknown.rawValue,
            """
            After a timeout or a broken connection it is unknown whether the hub accepted the notification: send it \
            again, or end as unknown.
            """),
        SettingsKey(
            "lanes.*.window.records", .integer(1...1_000_000), default: "\(lane.window.records)",
            "The most buffered records of the lane."),
        SettingsKey(
            "lanes.*.window.bytes", .size(65_536...4_294_967_296),
            default: SettingsValue.text(bytes: lane.window.bytes),
            "The most bytes of the lane's buffered records."),
    ]

    private static let topics = [
        SettingsKey(
            "results.topic", .topic, default: "news.results",
            "The topic that every outcome is written to. It needs at least as many partitions as any source topic."),
        SettingsKey(
            "deadLetters.topic", .topic, default: "news.dead-letters",
            "The topic for records that could not be delivered, byte for byte."),
    ]

    private static let hub = [
        SettingsKey(
            "hub.connectionString", .text, required: true, secret: true,
            "The hub's connection string with the Send right: Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…"),
        SettingsKey(
            "hub.name", .text,
            "The notification hub's name. Optional when the connection string has an EntityPath."),
        SettingsKey(
            "hub.connections", .integer(1...1024), default: "\(engine.connections)",
            """
            The most requests in flight; fewer while the hub is slow or refuses requests. Over HTTP/1.1 each has a \
            connection of its own, over HTTP/2 up to \(SenderLimits.streamsMax) share one.
            """),
        SettingsKey(
            "hub.http", .choice(["auto", "1.1"]), default: "auto",
            "auto: the hub chooses between HTTP/2 and HTTP/1.1 when TLS begins. 1.1: HTTP/2 is not offered."),
        SettingsKey(
            "hub.requestTimeout", .duration(.milliseconds(100) ... .seconds(300), orNone: false),
            default: SettingsValue.text(limits.requestTimeout),
            "How long to wait for the hub's reply."),
        SettingsKey(
            "hub.connectTimeout", .duration(.milliseconds(100) ... .seconds(60), orNone: false),
            default: SettingsValue.text(limits.connectTimeout),
            "How long to wait for a connection, TLS handshake included."),
        SettingsKey(
            "hub.trustRoots", .text,
            """
            A PEM file with the certificate authorities to trust instead of the system's. `newswire run` reads it \
            again at SIGHUP, for new connections.
            """),
        SettingsKey(
            "retry.attempts", .integer(1...100),
            """
            The most requests for one delivery, including the first. When not set: until its deadline (its expiresAt or \
            its lane's maxAge), or \(RetrySchedule.attemptsWithoutDeadline) without a deadline.
            """),
        SettingsKey(
            "retry.unknownAttempts", .integer(1...20), default: "\(engine.unknownAttempts)",
            """
            The most requests for one delivery that the hub may have accepted: after a timeout, a broken connection, \
            500, 502 or 504.
            """),
        SettingsKey(
            "retry.firstDelay", .duration(.milliseconds(1) ... .seconds(3600), orNone: false),
            default: SettingsValue.text(engine.retry.first),
            "The wait before the first retry; it doubles with each further one."),
        SettingsKey(
            "retry.maxDelay", .duration(.milliseconds(1) ... .seconds(86_400), orNone: false),
            default: SettingsValue.text(engine.retry.longest),
            "The longest wait between two attempts, unless the hub asks for more."),
        SettingsKey(
            "retry.longestPause", .duration(.seconds(1) ... .seconds(86_400), orNone: false),
            default: SettingsValue.text(engine.longestPause),
            "The longest Retry-After that is obeyed; a longer one counts as this."),
    ]

    private static let payload = [
        SettingsKey(
            "payload.mode", .choice(["template", "native"]), default: "template",
            "template: one payload that each device's own template shapes. native: one payload per platform."),
        SettingsKey(
            "payload.platforms", .list(.choice(nativePlatforms)),
            "The platforms to build native payloads for; ignored in template mode."),
        SettingsKey(
            "payload.message", .text, default: PayloadSettings.standardMessage,
            "The text of the notification: a Mustache template over the event's fields."),
        SettingsKey(
            "payload.interruption.*", .choice(Interruption.classes.map(\.rawValue)),
            """
            How much news of this urgency (1 to 9, or none) may disturb: breaking wakes the phone, routine does not, quiet \
            keeps the screen dark. By default 1 to 3 are breaking and everything else is routine. Only the first lane's \
            news is ever breaking.
            """),
        SettingsKey(
            "payload.timeToLive.default", .duration(.seconds(1)...TimeToLive.longest, orNone: false),
            default: SettingsValue.text(TimeToLive().standard),
            """
            How long a phone that is off may still get a notification; shorter for an event with expiresAt. One time for \
            everything may stand for this map.
            """),
        SettingsKey(
            "payload.timeToLive.*", .duration(.seconds(1)...TimeToLive.longest, orNone: false),
            "The time for a lane, or for one of \(UrgencyClass.allCases.map(\.rawValue).joined(separator: ", ")), which counts first."
        ),
        SettingsKey(
            "payload.templates.normal", .text,
            """
            In template mode, the name of the app's template for news that may make a sound; the library BreakingNews \
            calls it breakingNews. With it every send names a template, so that a device with both gets one notification.
            """),
        SettingsKey(
            "payload.templates.quiet", .text,
            "The name of the app's template without a sound; the library BreakingNews calls it breakingNewsQuiet."),
        SettingsKey("categories.*.tag", .text, "The hub tag of the category; by default the category's name."),
        SettingsKey(
            "categories.*.names", .list(.text),
            "Other names that events use for the category, compared without case; its own name always counts."),
        SettingsKey(
            "categories.*.subjects", .list(.text),
            "IPTC media topics that belong to the category, e.g. medtop:11000000."),
        SettingsKey(
            "unroutable", .text, default: "deadLetter",
            "The fate of an event without a known category: deadLetter, or the name of a category to send it under."
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
            "floodGuard.share", .percent(orNone: true), default: "\(engine.floodGuard.sharePercent)%",
            """
            Stop a lane when at least this share of its recent events is refused: then the cause is probably not the \
            events, and a person has to look.
            """),
        SettingsKey(
            "floodGuard.events", .integer(10...100_000), default: "\(engine.floodGuard.events)",
            "How many recent events the flood guard considers."),
    ]

    private static let service = [
        SettingsKey(
            "http.listen", .listen, default: "\(StatusServerSettings())",
            "The address that serves health, metrics and the dashboard, or off."),
        SettingsKey(
            "http.token", .text, secret: true,
            "A bearer token that lets callers from other machines pause and resume lanes; without it only this machine may."
        ),
        SettingsKey(
            "shards", .integerOr("auto", 1...64), default: "auto",
            """
            How many event loops share the work. The rate is divided by their partitions; idle ones lend their connections. \
            One handles tens of thousands of events a second. auto, decided at the start, is one unless rate.perSecond is \
            above 10000 or unlimited; then one for every two cores, at most eight, and no more than hub.connections.
            """),
        SettingsKey(
            "shutdown.deadline", .duration(.seconds(1) ... .seconds(600), orNone: false),
            """
            How long a shutdown may wait for replies and results. When not set: hub.requestTimeout plus 5 seconds, at \
            least 20 seconds. Whatever stops the process must allow it more time than that.
            """),
        SettingsKey(
            "tracing.otlp.endpoint", .text,
            """
            The collector that receives a span for each request to the hub, e.g. http://127.0.0.1:4318 (OTLP over \
            HTTP, JSON); without it there are none.
            """),
        SettingsKey(
            "tracing.otlp.headers.*", .text, secret: true,
            "Headers that the collector requires, e.g. authorization."),
        SettingsKey(
            "tracing.sampleRatio", .percent(orNone: false), default: "100%",
            "The share of events without a traceparent that are traced; an event with one is traced if it says so."),
        SettingsKey(
            "logging.level", .choice(logLevels), default: Settings.Logging().level.rawValue,
            "The least severe level that is logged."),
        SettingsKey(
            "logging.format", .choice(Settings.Logging.Format.allCases.map(\.rawValue)),
            default: Settings.Logging().format.rawValue,
            "auto is text on a terminal and JSON lines elsewhere."),
    ]

    private static let nativePlatforms = Platform.native.map(\.rawValue)
    package static let logLevels = Logger.Level.allCases.map(\.rawValue)
}
