import HubIO
import HubModel
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine
import PublisherService
import Testing

/// The example of the documentation, word for word.
let contractExample = """
    kafka:
      bootstrapServers: ["127.0.0.1:9092"]
      group: newswire
      properties: {security.protocol: SASL_SSL}   # any librdkafka property, passed through
    lanes:                                        # highest urgency first
      live:     {topics: [news.events],   maxAge: 15m}
      backfill: {topics: [news.backfill], maxAge: none, floor: 10%}
    results:     {topic: news.results}
    deadLetters: {topic: news.dead-letters}
    hub:
      connectionString: ${NEWSWIRE_HUB_CONNECTION_STRING}   # Endpoint=sb://… or https://… or http://host:port/
      name: breaking-news
      connections: 64
    payload:
      mode: template            # or native
      platforms: [apple, fcmv1] # native only: hub format values
      message: "Breaking {{category}} News : {{headline}}"
    rate: {perSecond: 500, burst: 50}   # perSecond: unlimited for none
    categories:                 # optional; the six of the tutorials are the default
      World: {tag: World, names: [world, international], subjects: [medtop:11000000]}
    unroutable: deadLetter      # or a category name
    http: {listen: 127.0.0.1:9464}      # health, metrics, dashboard
    """

let connectionString =
    "Endpoint=sb://example.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0LWNhbmFyeQ=="
let hubVariable = ["NEWSWIRE_HUB_CONNECTION_STRING": connectionString]

/// The smallest valid configuration, with more appended.
func minimal(_ more: String = "") -> String {
    """
    kafka: {bootstrapServers: ["127.0.0.1:9092"]}
    lanes: {live: {topics: [news.events]}}
    hub: {connectionString: "\(connectionString)", name: breaking-news}

    """ + more
}

func lines(_ loaded: LoadedSettings) -> [String] { loaded.problems.map { $0.line(file: "x.yaml") } }

@Test func `the documented example is read as written`() throws {
    let loaded = LoadedSettings(contractExample, environment: hubVariable)
    #expect(lines(loaded) == [])
    let settings = try #require(loaded.settings)
    #expect(settings.kafkaSettings.bootstrapServers == ["127.0.0.1:9092"])
    #expect(settings.kafkaSettings.properties == ["security.protocol": "SASL_SSL"])
    #expect(settings.engine.lanes.map(\.name) == ["live", "backfill"])
    #expect(settings.engine.lanes.map(\.maxAge) == [.seconds(900), nil])
    #expect(settings.engine.lanes.map(\.floorPercent) == [0, 10])
    #expect(settings.connectionString.revealed == connectionString)
    #expect(settings.payload == PayloadSettings())
    #expect(settings.engine.rate == EngineSettings.Rate(perSecond: 500, burst: 50))
    #expect(
        settings.categories == [
            .init(name: "World", tag: "World", names: ["world", "international"], subjects: ["medtop:11000000"])
        ])
    #expect(settings.unroutable == .deadLetter)
    #expect(settings.listen == NetworkAddress(host: "127.0.0.1", port: 9464))
}

@Test func `an absent setting has its documented default`() throws {
    let settings = try #require(LoadedSettings(minimal()).settings)
    #expect(settings.kafkaSettings.group == "newswire")
    #expect(settings.engine.resultsTopic == "news.results")
    #expect(settings.engine.connections == 64)
    #expect(settings.sender.requestTimeout == .seconds(30))
    #expect(settings.sender.connectTimeout == .seconds(5))
    #expect(settings.engine.retry == RetrySchedule(attempts: nil, first: .milliseconds(500), longest: .seconds(30)))
    #expect(settings.engine.unknownAttempts == 5)
    #expect(settings.engine.longestPause == .seconds(300))
    #expect(settings.engine.lanes == [LaneSettings(name: "live", topics: ["news.events"])])
    #expect(try settings.publisherSettings(cores: 8).shards == 1)
    #expect(settings.engine.drainDeadline == .seconds(35))
}

@Test func `a component's own defaults are those of the configuration`() throws {
    let settings = try #require(LoadedSettings(minimal()).settings)
    let engine = EngineSettings(lanes: [], platforms: [], resultsTopic: "")
    #expect(settings.engine.connections == engine.connections)
    #expect(settings.engine.retry == engine.retry)
    #expect(settings.engine.unknownAttempts == engine.unknownAttempts)
    #expect(settings.engine.longestPause == engine.longestPause)
    #expect(settings.engine.floodGuard == engine.floodGuard)
    #expect(settings.engine.drainDeadline == engine.drainDeadline)
    #expect(settings.sender == SenderLimits(connections: engine.connections))
    #expect(settings.payload == PayloadSettings())
    #expect(settings.unroutable == .deadLetter)
    #expect(settings.logging.level == .info && settings.logging.format == .auto)
}

@Test(arguments: [("2m", "", 125), ("1s", "", 20), ("15001ms", "", 20), ("2m", "shutdown: {deadline: 3s}", 3)])
func `by default a shutdown has more time than a request`(
    request: String, more: String, seconds: Int
) throws {
    let yaml = minimal(more).replacing("name: breaking-news", with: "name: breaking-news, requestTimeout: \(request)")
    let deadline = try #require(LoadedSettings(yaml).settings).engine.drainDeadline
    #expect(deadline == (request == "15001ms" ? .milliseconds(20_001) : .seconds(seconds)))
}

@Test func `attempts, pauses and unknown attempts reach the engine`() throws {
    let yaml = minimal() + "\nretry: {attempts: 7, unknownAttempts: 2, longestPause: 1h}\n"
    let engine = try #require(LoadedSettings(yaml).settings).engine
    #expect(engine.retry.attempts == 7)
    #expect(engine.unknownAttempts == 2)
    #expect(engine.longestPause == .seconds(3600))
}

@Test func `every default is a value its own key accepts`() {
    for key in SettingsKey.all {
        if let fallback = key.fallback {
            #expect((try? key.kind.parse(fallback).get()) != nil, "\(key.pattern)")
        }
    }
}

@Test func `five mistakes are reported together, each with its line and a remedy`() {
    let loaded = LoadedSettings(
        """
        kafka:
          bootstrapServer: ["127.0.0.1:9092"]
        lanes:
          live: {topics: [news.events], maxAge: 15}
        hub:
          connectionString: ${NO_SUCH_VARIABLE}
          name: breaking-news
          connections: 0
        payload:
          mode: native
        """)
    #expect(loaded.settings == nil)
    #expect(
        lines(loaded) == [
            "x.yaml:2:3: error: kafka.bootstrapServer: is not a setting; did you mean bootstrapServers?",
            "x.yaml:4:41: error: lanes.live.maxAge: '15' is not understood; write a time from 1s to 366d, e.g. 30s or 15m, or none",
            "x.yaml:6:21: error: hub.connectionString: the environment variable NO_SUCH_VARIABLE is not set; set it, e.g. export NO_SUCH_VARIABLE=…",
            "x.yaml:8:16: error: hub.connections: '0' is out of range; write a whole number from 1 to 1024",
            "x.yaml:9:1: error: payload.platforms: native mode names no platform; name at least one of apple, fcmv1, gcm, windows, windowsphone, adm, baidu, browser, xiaomi",
        ])
}

@Test(arguments: [
    (
        "lanes: {live: {topics: [a]}, backfill: {topics: [a]}}",
        "lanes.backfill.topics: the topic a is already used by lanes.live.topics"
    ),
    ("results: {topic: news.events}", "results.topic: the topic news.events is already used by lanes.live.topics"),
    (
        "deadLetters: {topic: news.results}",
        "deadLetters.topic: the topic news.results is already used by results.topic"
    ),
    (
        "telemetry: {topic: news.events}",
        "telemetry.topic: the topic news.events is already used by lanes.live.topics"
    ),
    (
        "lanes: {a: {topics: [a], floor: 60%}, b: {topics: [b], floor: 50%}}",
        "lanes.b.floor: the floors of all lanes add up to 110%"
    ),
    ("lanes: {a b: {topics: [a]}}", "lanes.a b: is not a valid name for a lane"),
    ("lanes: {}", "lanes: there is no lane"),
    ("rate: {burst: 0}", "rate.burst: '0' is out of range"),
    (
        "lanes: {live: {topics: [a], floor: 110%}}",
        "lanes.live.floor: '110%' is out of range; write a whole percentage from 0% to 100%"
    ),
    ("hub: {trustRoots: /no/such, name: x, connectionString: \"\(connectionString)\"}", "hub.trustRoots: "),
    ("http: {token: REPLACE}", "http.token: still holds the placeholder of an example; write the real value"),
    ("http: {token: \"<token>\"}", "http.token: still holds the placeholder"),
    ("http: {token: ChangeMe}", "http.token: still holds the placeholder"),
    (
        "kafka: {bootstrapServers: [\"a:1\"], properties: {sasl.password: CHANGE_ME}}",
        "kafka.properties.sasl.password: still"
    ),
    ("tracing: {otlp: {headers: {authorization: Bearer REPLACE-ME}}}", "tracing.otlp.headers.authorization: still"),
    (
        "hub: {name: x, connectionString: \"Endpoint=sb://a.b/;SharedAccessKeyName=n;SharedAccessKey=REPLACE\"}",
        "hub.connectionString: still holds the placeholder"
    ),
    (
        "hub: {name: x, connectionString: \"Endpoint=sb://REPLACE.b.net/;SharedAccessKeyName=n;SharedAccessKey=k\"}",
        "hub.connectionString: still holds the placeholder"
    ),
    (
        "hub: {name: x, connectionString: \"Endpoint=sb://<name>.b.net/;SharedAccessKeyName=n;SharedAccessKey=k\"}",
        "hub.connectionString: still holds the placeholder"
    ),
    ("rate: {perSecond: fast}", "rate.perSecond: 'fast' is not understood"),
    ("unroutable: Wrold", "unroutable: 'Wrold' is not a category; write deadLetter or one of World"),
    ("payload: {mode: native, platforms: [apple, aple]}", "payload.platforms: 'aple' is not understood"),
    ("payload: {mode: native, platforms: [apple, apple]}", "payload.platforms: apple is named more than once"),
    ("payload: {mode: nativ}", "payload.mode: 'nativ' is not understood; write template or native"),
    (
        "kafka: {properties: {acks: 1}, bootstrapServers: [\"a:1\"]}",
        "kafka.properties.acks: cannot be set; the results are the ledger"
    ),
    ("kafka: {bootstrapServers: [broker]}", "kafka.bootstrapServers: 'broker' is not understood"),
    ("kafka: {bootstrapServers: []}", "kafka.bootstrapServers: is empty"),
    ("retry: {longestPause: 25h}", "retry.longestPause: '25h' is out of range; write a time from 1s to 1d"),
    ("retry: {unknownAttempts: 0}", "retry.unknownAttempts: '0' is out of range; write a whole number from 1 to 20"),
    ("retry: {firstDelay: 2m}", "retry.maxDelay: is shorter than retry.firstDelay"),
    ("hub: {name: x}", "hub.connectionString: is missing; write some text, or set NEWSWIRE_HUB_CONNECTION_STRING"),
    ("hub: {name: x, connectionString: nonsense}", "hub.connectionString: part 1 of the connection string has no '='"),
    ("hub: {connectionString: \"Endpoint=sb://a.b/;SharedAccessKeyName=n;SharedAccessKey=k\"}", "hub.name: is missing"),
    (
        "hub: {name: a/b, connectionString: \"Endpoint=sb://a.b/;SharedAccessKeyName=n;SharedAccessKey=k\"}",
        "hub.name: the hub's name may only"
    ),
    ("categories: {A: {names: [x]}, B: {names: [X]}}", "categories.B.names: the name 'X' is used for 'A' too"),
    ("categories: {A: {subjects: [sports]}}", "categories.A.subjects: 'sports' is not an IPTC code"),
    ("categories: {A: {subjects: [subj:15054000]}}", "categories.A.subjects: 'subj:15054000' matches no event"),
    ("connections: 5", "connections: is not a setting; it belongs at hub.connections"),
    ("http: {listen: 9464}", "http.listen: '9464' is not understood"),
    ("rate: 500", "rate: expected keys, found a single value; write its keys: perSecond, burst"),
    ("rate: {perSecond: [1]}", "rate.perSecond: expected a single value, found a list"),
    ("rate: {perSecond: }", "rate.perSecond: has no value"),
    ("rate: {<<: *x}", "not YAML: found undefined alias"),
    ("rate: {? [a] : 1}", "a key must be a plain word"),
    ("rate: {perSecond: 500", "not YAML: did not find expected ',' or '}'"),
    ("results: {topic: \"a b\"}", "results.topic: 'a b' is not understood"),
    ("logging: {level: loud}", "logging.level: 'loud' is not understood; write one of trace, debug"),
])
func `a mistake is reported at its place`(yaml: String, expected: String) {
    // The group replaces the one in the smallest configuration.
    let group = yaml.prefix { $0 != ":" } + ":"
    let kept = minimal().split(separator: "\n").filter { !$0.hasPrefix(group) }.joined(separator: "\n")
    let loaded = LoadedSettings(kept + "\n" + yaml)
    #expect(loaded.settings == nil)
    #expect(lines(loaded).count == 1, "\(lines(loaded))")
    #expect(lines(loaded).first?.contains(expected) == true, "\(lines(loaded))")
}

@Test func `repeated keys are all found, along with everything else`() {
    let loaded = LoadedSettings(
        minimal(
            """
            rate: {burst: 5, burst: 6, burst: 7}
            "http": {listen: off}
            shards: many
            http: {listen: off}
            """))
    #expect(
        loaded.problems.map { "\($0.key): \($0.message)" } == [
            "burst: written a second time, first on line 4",
            "burst: written a second time, first on line 4",
            "shards: 'many' is not understood",
            "http: written a second time, first on line 5",
        ])
}

@Test func `any key can be set from the environment`() throws {
    let environment = [
        "NEWSWIRE_KAFKA_BOOTSTRAP_SERVERS": "a:1, b:2",
        "NEWSWIRE_RATE_PER_SECOND": "unlimited",
        "NEWSWIRE_LANES_LIVE_MAX_AGE": "1h30m",
        "NEWSWIRE_LANES_LIVE_WINDOW_BYTES": "1MiB",
        "NEWSWIRE_HTTP_LISTEN": "off",
        "NEWSWIRE_PAYLOAD_MODE": "native",
        "NEWSWIRE_PAYLOAD_PLATFORMS": "apple,windows",
        "NEWSWIRE_KAFKA_PROPERTIES_SASL_PASSWORD": "${not a reference}",
        "NEWSWIRE_CATEGORIES_WORLD_NEWS_TAG": "world-news",
    ]
    let loaded = LoadedSettings(
        minimal("rate: {perSecond: ${UNSET}}\ncategories: {World news: {}}"), environment: environment)
    #expect(lines(loaded) == [])
    let settings = try #require(loaded.settings)
    #expect(settings.kafkaSettings.bootstrapServers == ["a:1", "b:2"])
    #expect(settings.engine.rate == nil)
    #expect(settings.engine.lanes.first?.maxAge == .seconds(5400))
    #expect(settings.engine.lanes.first?.window.bytes == 1_048_576)
    #expect(settings.listen == nil)
    #expect(settings.payload.platforms == [.apple, .windows])
    #expect(settings.kafkaSettings.properties == ["sasl.password": "${not a reference}"])
    #expect(settings.categories.map(\.tag) == ["world-news"])
}

@Test func `without categories in the file the standard ones are printed, and the environment changes them`() throws {
    let plain = LoadedSettings(minimal())
    #expect(try #require(plain.settings).categoryTable() == .standard)
    let printed = EffectiveSetting.yaml(plain.effective)
    #expect(
        printed.contains("categories:\n  World:\n    tag: World  # default\n    names: [international]  # default\n"))
    for category in CategoryTable.standard.categories { #expect(printed.contains("  \(category.name):\n")) }
    // The printed settings are the same configuration.
    let again = LoadedSettings(printed.replacing("\"***\"", with: "\"\(connectionString)\""))
    #expect(try #require(again.settings).categoryTable() == .standard)

    let changed = LoadedSettings(
        minimal(),
        environment: ["NEWSWIRE_CATEGORIES_WORLD_TAG": "welt", "NEWSWIRE_CATEGORIES_SPORTS_NAMES": "sport,games"])
    #expect(lines(changed) == [])
    let table = try #require(changed.settings).categoryTable()
    #expect(table.categories.map(\.name) == CategoryTable.standard.categories.map(\.name))
    #expect(table.categories.map(\.tag) == ["welt", "Politics", "Business", "Technology", "Science", "Sports"])
    #expect(table.categories.first?.subjects == CategoryTable.standard.categories.first?.subjects)
    #expect(table.categories.last?.names == ["sport", "games"])
    #expect(EffectiveSetting.yaml(changed.effective).contains("    tag: welt  # NEWSWIRE_CATEGORIES_WORLD_TAG\n"))
}

@Test func `categories of the file replace the standard ones as a whole`() throws {
    let loaded = LoadedSettings(minimal("categories: {World: {}}"))
    #expect(try #require(loaded.settings).categories == [.init(name: "World")])
    #expect(EffectiveSetting.yaml(loaded.effective).contains("categories:\n  World:\n    tag: World  # default\n"))
}

@Test func `a variable for an unknown name is reported, and one for a new header is applied`() throws {
    let loaded = LoadedSettings(
        minimal(),
        environment: [
            "NEWSWIRE_CATEGORIES_GARDENING_TAG": "g", "NEWSWIRE_TRACING_OTLP_HEADERS_X_API_KEY": "secret-canary",
        ])
    #expect(
        lines(loaded) == [
            "NEWSWIRE_CATEGORIES_GARDENING_TAG (environment): warning: overrides nothing; write the name under categories in the file first; known there: World, Politics, Business, Technology, Science, Sports"
        ])
    #expect(try #require(loaded.settings).tracing.headers.map(\.name) == ["x-api-key"])
    #expect(!EffectiveSetting.yaml(loaded.effective).contains("canary"))
}

@Test(arguments: ["<not>x", "a<b>", "REPLACED?".lowercased(), "changemenow", "cGxhY2Vob2xkZXI=", "x changeme1"])
func `a secret that only resembles a placeholder is accepted`(secret: String) {
    #expect(lines(LoadedSettings(minimal("http: {token: \"\(secret)\"}"))) == [])
}

@Test func `a wrong override names its variable, and a misspelt one gets a hint`() {
    let loaded = LoadedSettings(
        minimal(),
        environment: ["NEWSWIRE_HUB_CONNECTIONS": "0", "NEWSWIRE_RATE_PERSECOND": "9", "NEWSWIRE_TEST_DATA": "/x"])
    #expect(
        lines(loaded) == [
            "NEWSWIRE_HUB_CONNECTIONS (environment): error: hub.connections: the value is out of range; write a whole number from 1 to 1024",
            "NEWSWIRE_RATE_PERSECOND (environment): warning: overrides nothing; did you mean NEWSWIRE_RATE_PER_SECOND?",
        ])
}

@Test func `printed settings contain no secret and show the origin of each value`() throws {
    let canary = "c2VjcmV0LWNhbmFyeQ=="
    let loaded = LoadedSettings(
        minimal("rate: {burst: ${BURST}}"),
        environment: ["BURST": "7", "NEWSWIRE_KAFKA_PROPERTIES_SASL_PASSWORD": canary, "NEWSWIRE_SHARDS": "2"])
    let yaml = EffectiveSetting.yaml(loaded.effective)
    #expect(!yaml.contains(canary))
    #expect(yaml.contains("hub:\n  connectionString: \"***\"  # line 3\n  name: breaking-news  # line 3\n"))
    #expect(yaml.contains("    sasl.password: \"***\"  # NEWSWIRE_KAFKA_PROPERTIES_SASL_PASSWORD\n"))
    #expect(yaml.contains("rate:\n  perSecond: 500  # default\n  burst: 7  # line 4\n"))
    #expect(yaml.contains("shards: 2  # NEWSWIRE_SHARDS\n"))
    #expect(!"\(try #require(loaded.settings))".contains(canary))
    // The printed text is a valid configuration, apart from the masked values.
    let again = LoadedSettings(yaml, environment: hubVariable)
    #expect(lines(again) == [])
}

@Test func `a secret in the wrong place is not repeated in the problem`() {
    let loaded = LoadedSettings(
        minimal(
            "http: {listen: ${SECRET}}\nlogging: {level: \"${SECRET}\"}\npayload: {platforms: [x${SECRET}], mode: native}"
        ),
        environment: ["SECRET": "canary", "NEWSWIRE_SHARDS": "canary"])
    #expect(loaded.problems.count == 4)
    #expect(!lines(loaded).joined().contains("canary"))
}

@Test func `shards are one until the pace asks for more, and then one for every two cores`() {
    func shards(_ perSecond: Int?, cores: Int, connections: Int = 64) -> Int {
        PublisherSettings.suitableShards(perSecond: perSecond, cores: cores, connections: connections)
    }
    #expect(shards(500, cores: 64) == 1)
    #expect(shards(10_000, cores: 2) == 1)
    #expect([1, 2, 3, 4, 6, 8, 64].map { shards(nil, cores: $0) } == [1, 1, 1, 2, 3, 4, 8])
    #expect(shards(10_001, cores: 4) == 2)
    #expect(shards(nil, cores: 8, connections: 1) == 1, "one connection stays one")
    #expect(shards(nil, cores: 0) == 1)
}

@Test func `the rules for topics follow the settings`() throws {
    let yaml = minimal().replacing(
        "lanes: {live: {topics: [news.events]}}",
        with: "lanes: {live: {topics: [a, b], maxAge: 2h}, backfill: {topics: [c]}}")
    let rules = try #require(LoadedSettings(yaml).settings).topicRules
    #expect(
        rules.topics.map { "\($0.name): \($0.use)" } == [
            "a: lane live", "b: lane live", "c: lane backfill", "news.results: results",
            "news.dead-letters: dead letters", "news.control: control", "news.audit: audit", "news.held: held events",
        ])
    #expect(rules.lanes.map(\.maxAge) == [.seconds(7200), nil])
}
