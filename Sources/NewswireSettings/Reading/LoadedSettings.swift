import NewsModel
import PublishEngine

/// What came of reading a configuration: settings, or what is wrong with them.
struct SettingsReading: Sendable {
    /// `nil` when there is any error.
    var settings: Settings?
    /// In reading order.
    var problems: [SettingsProblem]
    var effective: [EffectiveSetting]

    /// - Parameters:
    ///   - text: The configuration file.
    ///   - environment: All variables: for overrides and for `${NAME}`.
    ///   - readFile: For `${file:PATH}`.
    init(
        _ text: String, environment: [String: String] = [:],
        readFile: @escaping @Sendable (String) -> Result<String, SettingsFileFailure> = { _ in .failure(.missing) }
    ) {
        let interpolation = SettingsInterpolation(environment: environment, readFile: readFile)
        let document = SettingsDocument(text)
        guard document.isReadable else {
            problems = document.problems.sorted()
            effective = []
            return
        }
        var reader = SettingsReader(document, interpolation: interpolation)
        let settings = Settings(&reader)
        settings.check(&reader)
        problems = reader.problems.sorted()
        // What is wrong may be a secret in the wrong place.
        effective = reader.effective.map { reader.isSound($0.path) ? $0 : $0.masked }
        self.settings = problems.contains { $0.severity == .error } ? nil : settings
    }
}

extension Settings {
    /// Takes every setting; what is wrong is the reader's to remember, and its default stands in.
    fileprivate init(_ reader: inout SettingsReader) {
        kafka = Kafka(&reader)
        lanes = reader.names(under: "lanes").map { LaneSettings($0, &reader) }
        resultsTopic = reader.text("results.topic") ?? ""
        deadLettersTopic = reader.text("deadLetters.topic") ?? ""
        hub = Hub(&reader)
        retry = RetrySchedule(
            attempts: reader.integerOrWord("retry.attempts"), first: reader.duration("retry.firstDelay"),
            longest: reader.duration("retry.maxDelay"))
        unknownAttempts = reader.integer("retry.unknownAttempts")
        longestPause = reader.duration("retry.longestPause")
        payload = PayloadSettings(&reader)
        rate = reader.integerOrWord("rate.perSecond").map { EngineSettings.Rate(perSecond: $0, burst: 1) }
        let burst = reader.integer("rate.burst")
        rate?.burst = burst
        categories = reader.names(under: "categories").map { CategoryTable.Category($0, &reader) }
        let unroutable = reader.text("unroutable") ?? ""
        self.unroutable = unroutable == "deadLetter" ? .deadLetter : .category(unroutable)
        listen = reader.address("http.listen")
        token = reader.text("http.token").map(Secret.init)
        shards = reader.integerOrWord("shards")
        // A request under way when the shutdown begins has its whole time to be answered, and its result some to be stored.
        shutdownDeadline =
            reader.durationOrNone("shutdown.deadline") ?? max(.seconds(20), hub.requestTimeout + .seconds(5))
        floodGuard = FloodGuard.Settings(
            sharePercent: reader.integerOrWord("floodGuard.share") ?? 0, events: reader.integer("floodGuard.events"))
        tracing = Tracing(&reader)
        logging = Logging(
            level: reader.text("logging.level") ?? "info", format: reader.text("logging.format") ?? "auto")
    }
}

extension Settings.Kafka {
    fileprivate init(_ reader: inout SettingsReader) {
        bootstrapServers = reader.addresses("kafka.bootstrapServers")
        group = reader.text("kafka.group") ?? ""
        instance = reader.text("kafka.instance")
        properties = reader.names(under: "kafka.properties").compactMap { name in
            reader.text("kafka.properties" / name).map { Property(name: name, value: Secret($0)) }
        }
    }
}

extension Settings.Tracing {
    fileprivate init(_ reader: inout SettingsReader) {
        endpoint = reader.text("tracing.otlp.endpoint")
        headers = reader.names(under: "tracing.otlp.headers").compactMap { name in
            reader.text("tracing.otlp.headers" / name).map { .init(name: name, value: Secret($0)) }
        }
        sampledPercent = reader.integer("tracing.sampleRatio")
    }
}

extension LaneSettings {
    fileprivate init(_ name: String, _ reader: inout SettingsReader) {
        let path: SettingsPath = "lanes" / name
        self.init(name: name, topics: reader.texts(path / "topics"), maxAge: reader.durationOrNone(path / "maxAge"))
        floorPercent = reader.integer(path / "floor")
        onUnknown = reader.text(path / "onUnknown").flatMap(UnknownPolicy.init(rawValue:)) ?? .retry
        window = Window(
            records: reader.integer(path / "window" / "records"), bytes: reader.integer(path / "window" / "bytes"))
    }
}

extension Settings.Hub {
    fileprivate init(_ reader: inout SettingsReader) {
        connectionString = Secret(reader.text("hub.connectionString") ?? "")
        name = reader.text("hub.name")
        connections = reader.integer("hub.connections")
        requestTimeout = reader.duration("hub.requestTimeout")
        connectTimeout = reader.duration("hub.connectTimeout")
        trustRoots = reader.text("hub.trustRoots")
    }
}

extension PayloadSettings {
    fileprivate init(_ reader: inout SettingsReader) {
        let isNative = reader.text("payload.mode") == "native"
        let platforms = reader.texts("payload.platforms").compactMap(Platform.init(rawValue:))
        self.init(mode: isNative ? .native(platforms) : .template, message: reader.text("payload.message") ?? "")
    }
}

extension CategoryTable.Category {
    fileprivate init(_ name: String, _ reader: inout SettingsReader) {
        let path: SettingsPath = "categories" / name
        self.init(
            name: name, tag: reader.text(path / "tag"), names: reader.texts(path / "names"),
            subjects: reader.texts(path / "subjects"))
    }
}
