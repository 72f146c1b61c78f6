import ArgumentParser
import ByteText
import FeedIO
import Feeds
import Foundation
import HTTPServing
import KafkaIO
import Logging
import NewsModel
import NewswireSettings

struct IngestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ingest",
        abstract: "Follows feeds (RSS, Atom, JSON Feed, NewsML-G2, NITF, ninjs): writes what is new as events.",
        discussion: """
            The feeds stand in the configuration:

              ingest:
                feeds:
                  - {name: world, url: "https://example.org/world.xml", category: World}
                  - {name: agency, url: "https://example.org/g2", map: {Politik: Politics}}

            What a feed has when it is first read becomes known silently; from then on, new entries are written to the \
            lane, each once, and changed headlines as new versions. Old entries that appear are not news. What is \
            known stands on a compacted topic (ingest.stateTopic), so processes may crash, restart and take over from \
            one another: start as many as you like, and they share the feeds.

            See first what would happen, without Kafka:
              newswire ingest --explain https://example.org/world.xml
              newswire ingest --feed agency --explain sample.xml --json

            --explain says for each entry, as if the feed had been empty at first sight:
              alert       it would be sent
              update      a new version of an entry that was sent
              noise       nothing changed that is news; also an entry that stands twice in the document
              stale       too old
              backlog     beyond what one poll may send
              withheld    not to be published yet
              canceled    a recall
              unreadable  it cannot become an event

            Then:
              newswire topics --create     # also creates the state topic
              newswire ingest --dry-run    # polls once and shows what it would write
              newswire ingest              # follows the feeds
              newswire ingest --once       # polls each feed once and ends, e.g. from cron
              newswire ingest --status     # each feed: last success, next poll and why

            It needs neither the hub nor its key. SIGTERM (or Ctrl-C) finishes what is in flight; SIGHUP reads the \
            feeds again.

            Exit codes: 0 after an orderly end, 1 if a feed failed (--once, --dry-run), Kafka refused an event (--once), \
            the document is no feed (--explain) or it had to give up, 78 if the configuration is wrong.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @OptionGroup var logOption: LogOption
    @Flag(help: "Poll every feed once, wait until everything is stored, and end.") var once = false
    @Flag(help: "Poll every feed once and show what would be written; write nothing, not even state.")
    var dryRun = false
    @Flag(help: "Show what is known of each feed.") var status = false
    @Option(
        help: .init("Show what would become of the entries of a feed's address or file.", valueName: "url-or-file"),
        completion: .file())
    var explain: String?
    @Flag(help: "Print one JSON object per line, for programs.") var json = false
    @Option(
        help: .init(
            "Only this feed, with --once, --dry-run or --status; for --explain, whose rules to use.", valueName: "feed"),
        completion: ConfiguredNames.feeds)
    var feed: String?
    @Option(
        help: .init(
            "Serve status here, or with --status ask here, instead of at ingest.listen: host:port, or off.",
            valueName: "host:port"))
    var listen: String?

    func validate() throws {
        if [once, dryRun, status, explain != nil].count(where: { $0 }) > 1 {
            throw ValidationError("Choose one of --once, --dry-run, --status and --explain.")
        }
        if feed != nil, explain == nil, !status, !dryRun, !once {
            throw ValidationError(
                "--feed is for --once, --dry-run, --status and --explain. A process that follows one feed would take the partitions of "
                    + "others, which nobody would poll.")
        }
        if json, explain == nil, !status, !dryRun, !once {
            throw ValidationError("--json is for --explain, --status, --dry-run and --once.")
        }
        if let listen, listen != "off", NetworkAddress(listen) == nil {
            throw ValidationError("--listen must be host:port, or off.")
        }
    }

    func run() async throws {
        if explain == nil, !status, !dryRun, !once { Terminal.becomeService() }
        if let explain {
            // Only the rules of a feed that is named need a configuration here.
            let isDispensable = feed == nil && configurationOption.found == nil
            return try await show(explanationOf: explain, isDispensable ? nil : settings())
        }
        let path = try configurationOption.path
        let settings = try settings()
        if settings.ingest.feeds.feeds.isEmpty {
            notice("\(path): error: ingest.feeds: there is no feed; write at least one")
            throw ExitCode.badConfiguration
        }
        let threshold = logOption.start(settings.logging)
        OpenFiles.raiseLimit()
        let following = FeedFollowing(settings: settings, log: Logger(label: "newswire"))
        do {
            if status {
                try await showStatus(of: following, askingAt: settings.ingest.listen)
            } else if dryRun {
                try await rehearse(following)
            } else if once {
                try finish(try await following.pollOnce(), of: settings)
            } else {
                try await following.follow(path, threshold: logOption.level == nil ? threshold : nil)
            }
        } catch let failure as FetchFailure {
            throw CommandFailure(failure.detail)
        }
    }

    /// The settings, reduced to the feed of `--feed` if that option is given.
    private func settings() throws -> Settings {
        var settings = try configurationOption.settings()
        if let listen { settings.ingest.listen = NetworkAddress(listen) }
        guard let feed else { return settings }
        let all = settings.ingest.feeds.feeds
        guard let rules = all.first(where: { $0.name == feed }) else {
            throw ExitCode.wrongUsage(feed, isNot: "a feed", known: all.map(\.name))
        }
        settings.ingest.feeds.feeds = [rules]
        settings.ingest.feeds.otherFeeds = Set(all.map(\.name)).subtracting([feed])
        return settings
    }

    // MARK: Showing

    private func showStatus(of following: FeedFollowing, askingAt address: NetworkAddress?) async throws {
        var statuses = try following.stored(at: ServiceClock.wall)
        if let address {
            let live = await LiveFeeds.ask("\(address)")
            for index in statuses.indices { live?.complete(&statuses[index]) }
            let elsewhere = statuses.count { live?.follows($0.name) == false }
            if elsewhere > 0 {
                notice(
                    """
                    The process at \(address) does not poll \(grouped(elsewhere)) of these feeds. Their times are \
                    as last recorded on the topic, which may be a while ago; name the ingest.listen of another process \
                    with --listen.
                    """)
            }
            if live == nil {
                notice(
                    """
                    Nothing that follows feeds answers at \(address), so the next polls are not known here; name the \
                    ingest.listen of another process with --listen.
                    """)
            }
        }
        try show(statuses)
    }

    private func show(_ statuses: [FeedStatus]) throws {
        let (output, now) = (Terminal.standardOutput, ServiceClock.wall)
        if json {
            for status in FeedStatus.sorted(statuses) { try output.line(String(decoding: status.json, as: UTF8.self)) }
        } else {
            try output.write(FeedTable.text(statuses, at: now, hasColours: output.hasColours))
        }
    }

    private func rehearse(_ following: FeedFollowing) async throws {
        let (isJSON, output) = (json, Terminal.standardOutput)
        let statuses = try await following.rehearse { lane, event in
            let event = isJSON ? RehearsedEvent.json(lane, event) : RehearsedEvent.text(lane, event)
            try? output.line(event)
        }
        try end(statuses, prints: !json)
    }

    /// Prints the summary of `--once`.
    private func finish(_ statuses: [FeedStatus], of settings: Settings) throws {
        let elsewhere = settings.ingest.feeds.feeds.count - statuses.count
        if elsewhere > 0 {
            notice("\(counted(elsewhere, "feed")) not polled here: another process of the group follows them")
        }
        if json { try show(statuses) }
        try end(statuses, prints: !json)
    }

    /// - Throws: failure if a feed failed or was not polled, or if Kafka refused an event.
    private func end(_ statuses: [FeedStatus], prints: Bool) throws {
        let round = PollRound(statuses)
        for line in round.lines { notice(line) }
        if prints { try Terminal.standardOutput.line(round.summary) }
        if round.hasFailed { throw ExitCode.failure }
    }

    private func show(explanationOf text: String, _ settings: Settings?) async throws {
        let feeds = settings?.ingest.feeds.feeds ?? []
        let source = ExplainedSource(text, named: feed == nil ? nil : feeds.first, feeds: feeds)
        let output = Terminal.standardOutput
        do {
            let document = try await source.read(contact: settings?.ingest.contact)
            let explanation = FeedExplanation(document, rules: source.rules, at: ServiceClock.wall)
            if json {
                for line in explanation.jsonLines { try output.line(line) }
            } else {
                try output.write(explanation.text(hasColours: output.hasColours))
            }
        } catch let failure as ExplainedSource.Failure {
            // The address of another protocol may have a password too.
            let protocolName = text.firstRange(of: "://").map { String(text[..<$0.upperBound]) + "…" }
            throw CommandFailure("\(WebAddress(text)?.shown ?? protocolName ?? text): \(failure)")
        }
    }
}

/// Formats events that would be written.
enum RehearsedEvent {
    static func text(_ lane: String, _ event: FeedEvent) -> String {
        "would write to \(lane): \(String(decoding: event.value, as: UTF8.self))"
    }

    /// A JSON object with the event as its record would carry it.
    static func json(_ lane: String, _ event: FeedEvent) -> String {
        let head = JSONWriter.object { json in
            json.field("lane", lane)
            json.field("feed", event.feed)
            json.field("key", event.key)
        }
        return String(decoding: head.dropLast(), as: UTF8.self) + ",\"event\":"
            + String(decoding: event.value, as: UTF8.self) + "}"
    }
}
