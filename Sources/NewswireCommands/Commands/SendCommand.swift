import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine

struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Sends one notification: now, past Kafka, or at a given time.",
        discussion: """
            Use it for a test message, or for urgent news that no lane carries.

            It refuses while the hub or one of the categories is stopped, and while the orders cannot be read, for \
            example because Kafka is down. It also refuses if the control topic says that the hub belongs to another \
            environment. Who sent what stands on the audit topic before it is sent, and what became \
            of it on the results topic, with lane "send" and the place of the audit line as its source. A warning says \
            so if one of these topics does not take it.

            With --at the event goes to Kafka instead, under embargo until its time, and the service sends it then to \
            all its platforms. Its id is printed: until then, newswire recall ID takes it back. A line on the audit topic \
            says who scheduled it, without its text.

            Examples:
              newswire send --category World \\
                --message "A test" --dry-run
              newswire send --category Sports \\
                --message "Final score 2:1" --platform apple
              newswire send --category World \\
                --message "Polls close" --at 2028-11-07T19:00-05:00
              newswire send --category World --test \\
                --message "Rehearsal"
              newswire send --category World \\
                --message "Polls close" --headline "fr=Les bureaux ferment"

            With control.approval.send, another person approves it first (newswire approve). A test needs nobody.

            With --headline, readers of a language get the headline in it, where the configuration has localization. \
            --dry-run masks the signature of the requests. It needs no Kafka.

            Exit code 1 if a standing order is against it, and unless the hub, or with --at the broker, accepted \
            everything.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(help: "The category whose readers receive it; repeat for several.", completion: ConfiguredNames.categories)
    var category: [String]
    @Option(help: "The headline; payload.message turns it into the notification's text.") var message: String
    @Option(
        help: .init(
            "The headline in one more language, e.g. fr=Bonjour; repeat for several.", valueName: "language=text"),
        transform: LanguageText.init(parsing:))
    var headline: [LanguageText] = []
    @Option(help: .init("The language of --message, e.g. en.", valueName: "language")) var language: String?
    @Option(
        help: .init(
            "Only this platform; repeat for several. By default those of the configuration.", valueName: "platform"),
        completion: .list(Platform.allCases.map(\.rawValue)))
    var platform: [String] = []
    @Flag(help: "To the testers (test.tag) among the category's readers only, and marked as a test.") var test = false
    @Option(
        help: .init("Send it then: a time with its offset from UTC, e.g. 2026-01-31T06:00+01:00.", valueName: "time"),
        transform: SendTime.init(parsing:))
    var at: SendTime?
    @Option(
        help: .init("With --at: the lane; by default the most urgent one.", valueName: "lane"),
        completion: ConfiguredNames.lanes)
    var lane: String?
    @OptionGroup var authorOptions: AuthorOptions
    @Flag(help: "Send it although the hub or a category is stopped, or the orders cannot be read.")
    var despiteStop = false
    @Flag(help: "Print the requests, or with --at the event, instead of sending them.") var dryRun = false
    @Flag(help: "Print one JSON object per platform, or with --at per event, for programs.") var json = false

    func validate() throws {
        _ = try platforms()
        guard !message.allSatisfy(\.isWhitespace) else { throw ValidationError("--message must not be empty.") }
        try LanguageText.check(headline, language: language)
        if json, dryRun { throw ValidationError("Choose one of --json and --dry-run, which prints the requests.") }
        guard let at else {
            if lane != nil { throw ValidationError("--lane needs --at: without it nothing goes through a lane.") }
            return
        }
        if !platform.isEmpty { throw ValidationError("--platform cannot go with --at: the service sends to all.") }
        if despiteStop {
            throw ValidationError(
                "--despite-stop cannot go with --at: the service sends it by the orders of that time.")
        }
        let now = ServiceClock.wall
        guard at.instant > now else {
            throw ValidationError("--at \(at.instant) lies in the past: it is \(now). Is the offset right?")
        }
    }

    /// The platforms of the options, each once.
    private func platforms() throws -> [Platform] {
        var known: Set<Platform> = []
        let named = try platform.map { name in
            guard let platform = Platform(rawValue: name) else {
                throw ValidationError(name, isNot: "a platform", known: Platform.allCases.map(\.rawValue))
            }
            return platform
        }
        return named.filter { known.insert($0).inserted }
    }

    func run() async throws {
        // Only a send at once calls the hub.
        let settings = try configurationOption.settings(
            leavingOut: at == nil ? [] : ConfigurationOption.publisherSections)
        if let at { return try schedule(at.instant, settings) }
        let (event, routing, requests) = try requests(settings)
        warn(about: routing, settings)
        let sender = try SingleSend(settings)
        if dryRun {
            let texts = requests.map { sender.text(of: $0.request) }
            try Terminal.standardOutput.line(texts.joined(separator: "\n\n---\n\n"))
            return
        }
        if !test, settings.needsApproval(.send) { return try propose(settings) }
        var recorded = RecordedSend(event, categories: routing.categories, settings, isForced: despiteStop)
        try recorded.announce(
            requests: requests.count, by: authorOptions.author, reason: authorOptions.reason)
        var table = TextTable(
            [
                "platform", "status", "notification", .left("outcome", max: 300),
            ], hasColours: Terminal.standardOutput.hasColours)
        var (isAccepted, output) = (true, ActOutput())
        var refusal: (any Error)?
        for (platform, request) in requests {
            guard refusal == nil else {
                recorded.cancel(routing, platform: platform)
                continue
            }
            let result: SendResult
            do {
                try recorded.confirm()
                result = try await sender.send(request)
            } catch {
                // What was sent before is reported first.
                refusal = error
                recorded.cancel(routing, platform: platform)
                continue
            }
            recorded.settle(routing, result, platform: platform)
            let verdict = SendVerdict(result)
            isAccepted = isAccepted && verdict.isAccepted
            if json { output.line(verdict.line(event.id, platform)) }
            let outcome = verdict.remedy.isEmpty ? verdict.message : "\(verdict.message); \(verdict.remedy)"
            table.add([
                .init(request.format.rawValue), .init(verdict.status.map(String.init) ?? "-"),
                .init(verdict.notificationID ?? "-"), .init(outcome, colour: verdict.isAccepted ? .green : .red),
            ])
        }
        if !json, recorded.hasSent { output.write(table.text) }
        if let refusal { throw refusal }
        if !isAccepted { throw ExitCode.failure }
        try output.end()
    }

    private func propose(_ settings: Settings) throws {
        try ProposalDesk(settings).propose(try deed(settings), authorOptions, isJSON: json)
    }

    /// The deed that it proposes by these settings.
    func deed(_ settings: Settings) throws -> Proposal.Deed {
        let (event, routing, rules) = try event(settings, id: "proposed")
        // Nothing in the requests may depend on the moment.
        let requests = requests(event, routing, rules, platforms: try platforms(settings), at: Instant(milliseconds: 0))
        let platforms = requests.map(\.platform.rawValue)
        var effect = "send to the readers of \(routing.categories.joined(separator: ", "))"
        effect += " (tags \(routing.tags.joined(separator: ", "))) on \(platforms.joined(separator: ", "))"
        if let edition = routing.edition { effect += " in \(edition)" }
        effect += " \(settings.ofHub)"
        if let at {
            let lane = try scheduleLane(settings)
            effect += " through lane \(lane.name) (\(lane.topics.joined(separator: ", "))) at \(at.instant)"
        } else {
            let sender = try SingleSend(settings)
            var fingerprint = Fingerprint()
            for request in requests { fingerprint.mix(sender.text(of: request.request, isSigned: false)) }
            effect += ", requests \(String(fingerprint.value, radix: 16))"
        }
        if despiteStop { effect += ", despite stops" }
        let texts = [message] + headline.map { "\($0.headline.language): \($0.headline.text)" }
        return Proposal.Deed(.send, arguments: arguments, effect: effect, text: texts.joined(separator: " / "))
    }

    /// The command line that another person approves.
    private var arguments: [String] {
        ["send", "--message=\(message)"] + category.map { "--category=\($0)" }
            + headline.map { "--headline=\($0.headline.language)=\($0.headline.text)" }
            + platform.map { "--platform=\($0)" }
            + [language.map { "--language=\($0)" }, lane.map { "--lane=\($0)" }, at.map { "--at=\($0.instant)" }]
            .compactMap(\.self) + (despiteStop ? ["--despite-stop"] : [])
    }

    private func schedule(_ time: Instant, _ settings: Settings) throws {
        let (draft, routing, _) = try event(settings)
        warn(about: routing, settings)
        var event = draft
        event.embargoUntil = time
        event.publishedAt = ServiceClock.wall
        let send = ScheduledSend(event: event, lane: try scheduleLane(settings))
        if dryRun { return try Terminal.standardOutput.line(send.text) }
        if !test, settings.needsApproval(.send) {
            try send.checkTopics(settings)
            return try propose(settings)
        }
        let isHeldMissing = try send.isHeldMissing(settings)
        let entry = AuditEntry.send(
            event, at: ServiceClock.wall, by: authorOptions.author, reason: authorOptions.reason, despite: [])
        AuditWriter(settings).note(entry, "this notification")
        try send.publish(settings.kafkaSettings)
        let line = JSONLine.object { json in
            json.field("eventId", event.id)
            json.field("lane", send.lane.name)
            json.field("due", time)
        }
        try Terminal.standardOutput.line(json ? line : event.id)
        notice("\(send.lane.name) sends it at \(time)")
        if isHeldMissing {
            notice(
                "warning: topic \(settings.control.topics.held) \(TopicRules.isMissing): until then the event waits in the memory of a process and "
                    + "holds back its partition; \(TopicRules.missingRemedy)")
        }
    }

    /// Checks the topics that a scheduled send needs, before another person's approval is used up.
    ///
    /// - Throws: an exit if one is missing.
    func checkTopics(_ settings: Settings) throws {
        guard let at else { return }
        var (event, _, _) = try event(settings, id: "proposed")
        event.embargoUntil = at.instant
        try ScheduledSend(event: event, lane: try scheduleLane(settings)).checkTopics(settings)
    }

    private func scheduleLane(_ settings: Settings) throws -> LaneSettings {
        if let lane { return try settings.lane(named: lane) }
        guard let urgent = settings.engine.lanes.first else { throw ExitCode.badConfiguration }
        return urgent
    }

    private func warn(about routing: Routing.Tagged, _ settings: Settings) {
        let unread = unreadLanguages(settings)
        if !unread.isEmpty {
            notice(
                "warning: nobody gets the text in \(unread.joined(separator: ", ")): only localization with mode properties "
                    + "sends several, in its languages")
        }
        if !routing.leftOut.isEmpty {
            notice(
                "warning: not sent to the readers of \(routing.leftOut.joined(separator: ", ")): a send has room for "
                    + "\(counted(routing.categories.count, "category", plural: "categories"))")
        }
    }

    /// The event, its routing, and the rules that made both.
    private func event(
        _ settings: Settings, id: String = "send-\(UUID().uuidString.lowercased())"
    ) throws -> (NewsEvent, Routing.Tagged, ContentRules) {
        let table = try settings.categoryTable()
        // An unknown category is a typing mistake here, regardless of the policy for unroutable news.
        let rules = try settings.contentRules(unroutable: .deadLetter)
        var event = NewsEvent(id: id, headline: message)
        event.categories = category
        event.isTest = test
        event.language = language
        event.headlines = headline.map(\.headline)
        // The event is sent from this environment, so it belongs to it.
        event.environment = settings.policy.environment
        if let refusal = rules.policy.refusal(of: event) {
            throw CommandFailure(
                "not sent: \(refusal.detail); set test.tag to a tag that only testers have", isConfiguration: true)
        }
        let routed = rules.router.route(event)
        if case .unroutable(let failure) = routed, failure.code == FailureCode.unknownLanguage.rawValue {
            throw CommandFailure("not sent: \(failure.detail); name one with --language")
        }
        let unknown = category.first { table.index(named: $0) == nil }
        guard case .tagged(let routing) = routed, unknown == nil else {
            throw ExitCode.wrongUsage(unknown ?? "", isNot: "a category", known: table.categories.map(\.name))
        }
        return (event, routing, rules)
    }

    /// The languages of --headline that no reader gets. A send carries several languages only in the mode `properties`.
    private func unreadLanguages(_ settings: Settings) -> [String] {
        let localization = settings.payload.localization
        let carried = localization?.mode == .properties ? localization?.languages.map(\.code) ?? [] : []
        // A language of another region may be the best match.
        func primary(_ code: String) -> String { String(code.lowercased().prefix { $0.isLetter }) }
        let known = Set(carried.map(primary))
        return headline.map(\.headline.language).filter { !known.contains(primary($0)) }
    }

    private func requests(
        _ settings: Settings
    ) throws -> (NewsEvent, Routing.Tagged, [(platform: Platform, request: SendRequest)]) {
        let (event, routing, rules) = try event(settings)
        let platforms = try platforms(settings)
        let filled = platforms.contains(.template) ? rules.builder.filled(for: event, on: .template) : []
        if !filled.isEmpty { notice("filled from the fallback: \(filled.joined(separator: ", "))") }
        return (event, routing, requests(event, routing, rules, platforms: platforms, at: ServiceClock.wall))
    }

    private func platforms(_ settings: Settings) throws -> [Platform] {
        let chosen = try platforms()
        return chosen.isEmpty ? settings.payload.platforms : chosen
    }

    private func requests(
        _ event: NewsEvent, _ routing: Routing.Tagged, _ rules: ContentRules, platforms: [Platform], at now: Instant
    ) -> [(platform: Platform, request: SendRequest)] {
        platforms.map { platform in
            let payload = rules.builder.payload(
                event, routing: routing, platform: platform, lane: LaneID(0), since: now)
            return (platform, payload.request)
        }
    }
}

/// A headline in one language, on the command line: `fr=Bonjour`.
struct LanguageText: Sendable, Hashable {
    let headline: NewsEvent.Headline

    init(parsing text: String) throws {
        guard let sign = text.firstIndex(of: "=") else {
            throw ValidationError("'\(text.prefix(60))' has no '='; write a language and its text, e.g. \"fr=Bonjour\"")
        }
        let (language, headline) = (String(text[..<sign]), String(text[text.index(after: sign)...]))
        guard LanguageTag(language) != nil else {
            throw ValidationError("'\(language.prefix(60))' is not a language code such as fr, fr-CA or zh-Hant")
        }
        guard !headline.allSatisfy(\.isWhitespace) else { throw ValidationError("the text in \(language) is empty") }
        guard headline.utf8.count <= EventLimits.headline else {
            throw ValidationError("the text in \(language) is longer than \(EventLimits.headline) bytes")
        }
        self.headline = NewsEvent.Headline(language: language, text: headline)
    }

    /// - Parameter language: the language of the message.
    static func check(_ texts: [LanguageText], language: String?) throws {
        if let language, LanguageTag(language) == nil {
            throw ValidationError("--language must be a language code such as fr, fr-CA or zh-Hant.")
        }
        guard texts.count <= EventLimits.headlines else {
            throw ValidationError("--headline may be given at most \(EventLimits.headlines) times.")
        }
        var known: Set<LanguageTag> = []
        for text in texts {
            if let tag = LanguageTag(text.headline.language), !known.insert(tag).inserted {
                throw ValidationError("--headline names \(text.headline.language) more than once.")
            }
        }
    }
}
