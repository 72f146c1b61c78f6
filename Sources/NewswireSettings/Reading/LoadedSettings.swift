import Backfill
import ByteText
import ControlIO
import EditorialControl
import HubIO
import HubModel
import KafkaIO
import KafkaModel
import Logging
import NewsModel
import NotificationHub
import PublishEngine

/// A configuration that was read: its settings, or the problems that prevent their use.
package struct LoadedSettings: Sendable {
    /// The settings; `nil` if there is any error.
    package var settings: Settings?
    /// The problems in reading order.
    package var problems: [SettingsProblem]
    package var effective: [EffectiveSetting]

    /// - Parameters:
    ///   - text: The configuration file.
    ///   - environment: All variables, for overrides and for `${NAME}`.
    ///   - leavingOut: Sections that the caller does not need. Their problems are not reported. For example, a process that
    ///     only follows feeds needs no key of the hub.
    ///   - readFile: Reads the file of a `${file:PATH}`.
    package init(
        _ text: String, environment: [String: String] = [:], leavingOut: Set<String> = [],
        readFile: @escaping @Sendable (String) -> Result<String, SettingsFileFailure> = { _ in .failure(.missing) }
    ) {
        let interpolation = SettingsInterpolation(environment: environment, readFile: readFile)
        let document = SettingsDocument(text)
        guard document.isReadable else {
            problems = document.problems.sorted()
            effective = []
            return
        }
        var reader = SettingsReader(
            document, interpolation: interpolation,
            standardNames: ["categories": CategoryTable.standard.categories.map(\.name)])
        let settings = Settings(&reader)
        settings.check(&reader)
        problems = reader.problems.sorted().filter { problem in
            !leavingOut.contains(String(problem.key.prefix { $0 != "." }))
        }
        // A value with a problem may be a secret in the wrong place.
        effective = reader.effective.map { reader.isSound($0.path) ? $0 : $0.masked }
        self.settings = errors.isEmpty ? settings : nil
    }

    package var errors: [SettingsProblem] { problems.filter { $0.severity == .error } }
}

extension Settings {
    /// Reads every setting. The reader collects the problems and returns the default in place of an unusable value.
    fileprivate init(_ reader: inout SettingsReader) {
        kafka = KafkaSettings(
            bootstrapServers: reader.addresses("kafka.bootstrapServers").map(\.description),
            group: reader.text("kafka.group") ?? "", instance: reader.text("kafka.instance"))
        kafkaProperties = reader.secretFields(under: "kafka.properties")
        kafka.login = KafkaLogin(TokenSource(&reader))
        engine = EngineSettings(
            lanes: reader.names(under: "lanes").map { LaneSettings($0, &reader) }, platforms: [],
            resultsTopic: reader.text("results.topic") ?? "")
        // Records fetched ahead are bounded like records read, so memory is twice the windows for any backlog.
        kafka.fetchBudget = max(engine.lanes.reduce(0) { $0 + $1.window.bytes }, 1 << 20)
        deadLettersTopic = reader.text("deadLetters.topic") ?? ""

        registry = RegistrySettings(&reader)
        engine.formats = EventFormats(&reader, usesRegistry: registry != nil)
        let interests = FollowedKind.read(&reader)
        engine.formats.interests = interests.compactMap(\.source)
        connectionString = Secret(reader.text("hub.connectionString") ?? "")
        hubName = reader.text("hub.name")
        sender = SenderLimits(connections: reader.integer("hub.connections"))
        sender.offersHTTP2 = reader.text("hub.http") != "1.1"
        sender.requestTimeout = reader.duration("hub.requestTimeout")
        sender.connectTimeout = reader.duration("hub.connectTimeout")
        trustRoots = reader.text("hub.trustRoots").map(TrustRoots.file) ?? .system

        engine.connections = sender.connections
        engine.retry = RetrySchedule(
            attempts: reader.integerOrWord("retry.attempts"), first: reader.duration("retry.firstDelay"),
            longest: reader.duration("retry.maxDelay"))
        engine.unknownAttempts = reader.integer("retry.unknownAttempts")
        engine.longestPause = reader.duration("retry.longestPause")

        payload = PayloadSettings(&reader, lanes: engine.lanes.map(\.name))
        payload.localization = Localization.read(&reader)
        engine.platforms = payload.platforms
        let (perSecond, burst) = (reader.integerOrWord("rate.perSecond"), reader.integer("rate.burst"))
        engine.rate = perSecond.map { EngineSettings.Rate(perSecond: $0, burst: burst) }
        categories = CategoryTable.Category.read(&reader)
        let policy = reader.text("unroutable") ?? ""
        unroutable = policy == "deadLetter" ? .deadLetter : .category(policy)

        listen = reader.address("http.listen")
        token = reader.text("http.token").map(Secret.init)
        shards = reader.integerOrWord("shards")
        // A request in flight when the shutdown begins may use all of its time, and its result needs some to be stored.
        engine.drainDeadline =
            reader.durationOrNone("shutdown.deadline") ?? max(.seconds(20), sender.requestTimeout + .seconds(5))
        engine.floodGuard = FloodGuard.Settings(
            sharePercent: reader.integerOrWord("floodGuard.share") ?? 0, events: reader.integer("floodGuard.events"))
        tracing = Tracing(
            endpoint: reader.text("tracing.otlp.endpoint"),
            headers: reader.secretFields(under: "tracing.otlp.headers"),
            sampledPercent: reader.integer("tracing.sampleRatio"))
        control = ControlSettings(&reader)
        telemetry = TelemetryConfiguration(&reader, lanes: engine.lanes.map(\.name))
        ingest = IngestConfiguration(&reader, lanes: engine.lanes.map(\.name))
        self.policy = ContentPolicy(&reader, hasFeeds: ingest.isConfigured)
        self.policy.interests = InterestTable(interests.map(\.kind))
        prices = PushPrices(&reader)
        logging = Logging()
        if let level = reader.text("logging.level").flatMap(Logger.Level.init(rawValue:)) { logging.level = level }
        if let format = reader.text("logging.format").flatMap(Logging.Format.init(rawValue:)) {
            logging.format = format
        }
    }
}

extension LaneSettings {
    fileprivate init(_ name: String, _ reader: inout SettingsReader) {
        let path: SettingsPath = "lanes" / name
        self.init(name: name, topics: reader.texts(path / "topics"), maxAge: reader.durationOrNone(path / "maxAge"))
        floorPercent = reader.integer(path / "floor")
        if let policy = reader.text(path / "onUnknown").flatMap(UnknownPolicy.init(rawValue:)) { onUnknown = policy }
        window = Window(
            records: reader.integer(path / "window" / "records"), bytes: reader.integer(path / "window" / "bytes"))
    }
}

extension PayloadSettings {
    fileprivate init(_ reader: inout SettingsReader, lanes: [String]) {
        let isNative = reader.text("payload.mode") == "native"
        let platforms = reader.texts("payload.platforms").compactMap(Platform.init(rawValue:))
        self.init(mode: isNative ? .native(platforms) : .template, message: reader.text("payload.message") ?? "")
        interruption = Interruption(&reader)
        timeToLive = TimeToLive(&reader, lanes: lanes)
        switch (reader.text("payload.templates.normal"), reader.text("payload.templates.quiet")) {
        case (let normal?, let quiet?): templates = TemplateNames(normal: normal, quiet: quiet)
        case (nil, nil): break
        case (let normal, _):
            let (missing, present) = normal == nil ? ("normal", "quiet") : ("quiet", "normal")
            reader.report(
                "payload.templates" / missing, "is missing",
                "name both templates that your app registers, or remove payload.templates.\(present)")
        }
        readBodies(&reader)
    }
}

extension Interruption {
    fileprivate init(_ reader: inout SettingsReader) {
        let path: SettingsPath = "payload.interruption"
        var classes: [Int: UrgencyClass] = [:]
        for name in reader.names(under: path) {
            let number = Int(digits: name).flatMap { (1...9).contains($0) ? $0 : nil }
            guard let urgency = name == "none" ? 0 : number else {
                reader.report(path / name, "is no urgency", "write a number from 1 to 9, or none")
                continue
            }
            classes[urgency] = reader.text(path / name).flatMap(UrgencyClass.init(rawValue:))
        }
        self.init(classes)
    }
}

extension TimeToLive {
    fileprivate init(_ reader: inout SettingsReader, lanes names: [String]) {
        self.init()
        let path: SettingsPath = "payload.timeToLive"
        standard = reader.duration(path / "default")
        for name in reader.names(under: path) where name != "default" {
            if let urgency = UrgencyClass(rawValue: name) {
                classes[urgency] = reader.duration(path / name)
            } else if let lane = names.firstIndex(of: name) {
                self.lanes[LaneID(lane)] = reader.duration(path / name)
            } else {
                let known = names + UrgencyClass.allCases.map(\.rawValue)
                let near = Spelling.nearest(to: name, among: known).map { "did you mean \($0)?" }
                reader.report(
                    path / name, "is neither a lane nor a class of urgency",
                    near ?? "known here: default, \(known.joined(separator: ", "))")
            }
        }
    }
}

extension Localization {
    /// - Returns: `nil` if neither the file nor the environment has a setting of it.
    fileprivate static func read(_ reader: inout SettingsReader) -> Localization? {
        let group: SettingsPath = "localization"
        let codes = reader.names(under: group / "languages")
        let keys = ["mode", "property", "message", "tag", "fallback"]
        guard !codes.isEmpty || keys.contains(where: { reader.isGiven(group / $0) }) else { return nil }
        let languages = codes.map { code in
            Language(code: code, name: reader.text(group / "languages" / code) ?? code)
        }
        return Localization(
            mode: reader.text(group / "mode").flatMap(Mode.init(rawValue:)) ?? .properties,
            property: reader.text(group / "property") ?? standardProperty, tag: reader.text(group / "tag"),
            message: reader.text(group / "message") ?? standardMessage, languages: languages,
            fallback: reader.texts(group / "fallback"))
    }
}

extension ControlSettings {
    fileprivate init(_ reader: inout SettingsReader) {
        self.init(
            topics: ControlTopics(
                control: reader.text("control.topic") ?? "", audit: reader.text("control.auditTopic") ?? "", held: ""))
        staleAfter = reader.duration("control.staleAfter")
        if let policy = reader.text("control.onStale").flatMap(ControlState.OnStale.init(rawValue:)) {
            onStale = policy
        }
        approval.send = reader.boolean("control.approval.send") ?? false
        approval.replace = reader.boolean("control.approval.replace") ?? false
        approval.resumeHub = reader.boolean("control.approval.resumeHub") ?? false
        // Read after the whole control section, because settings are printed in the order in which they are read.
        topics.held = reader.text("held.topic") ?? ""
    }
}

extension CategoryTable.Category {
    /// The categories of the file, or else the standard ones, of which the environment may change parts.
    fileprivate static func read(_ reader: inout SettingsReader) -> [Self] {
        let group: SettingsPath = "categories"
        let isStandard = !reader.isInFile(group)
        return reader.names(under: group).map { name in
            let standard = isStandard ? CategoryTable.standard.categories.first { $0.name == name } : nil
            return Self(
                name: name, tag: reader.text(group / name / "tag", otherwise: standard?.tag ?? name),
                names: reader.texts(group / name / "names", otherwise: standard?.names ?? []),
                subjects: reader.texts(group / name / "subjects", otherwise: standard?.subjects ?? []))
        }
    }
}
