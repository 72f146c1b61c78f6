import ArgumentParser
import Foundation
import NewswireSettings

struct InitCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Writes a commented configuration to begin with.",
        discussion: """
            The file has the settings that every service needs, and the others as comments with an example of each. All \
            settings, with their defaults and ranges, are in schemas/configuration.schema.json. An existing file is \
            never overwritten.

            Examples:
              newswire init
              newswire init /etc/newswire/newswire.yaml
              newswire init - | less

            Exit codes: 0 written, 1 the file exists already or cannot be written.
            """)

    @Argument(
        help: .init("The file to write, or - for standard output.", valueName: "file"), completion: .file())
    var file = "newswire.yaml"

    func run() throws {
        let output = Terminal.standardOutput
        if file == "-" { return try output.write(Self.text) }
        do {
            try Data(Self.text.utf8).write(to: URL(fileURLWithPath: file), options: .withoutOverwriting)
        } catch let error as CocoaError where error.code == .fileWriteFileExists {
            throw CommandFailure("\(file) exists already; name another file, or edit this one")
        } catch let error as CocoaError where error.code == .fileNoSuchFile {
            throw CommandFailure("\(file) cannot be written, because its folder does not exist; make it first")
        }
        let found = SettingsFile.standardPath().map { URL(fileURLWithPath: $0).standardizedFileURL }
        let option = found == URL(fileURLWithPath: file).standardizedFileURL ? "" : " --config \(file)"
        try output.write(
            """
            wrote \(file). Set kafka.bootstrapServers and hub.name in it, and the key in the environment:
              export NEWSWIRE_HUB_CONNECTION_STRING='Endpoint=sb://…'
            Then:
              newswire topics\(option) --create
              newswire check\(option)
              newswire run\(option)

            """)
    }

    static let text = """
        # The configuration of Newswire. Any value may be ${ENVIRONMENT_VARIABLE} or ${file:/path/to/secret}.
        # Sections that are comments show an example, not the default.
        kafka:
          bootstrapServers: ["127.0.0.1:9092"]
          group: newswire
          properties: {}            # any librdkafka property, e.g. security.protocol: SASL_SSL

        # Where news comes from, highest urgency first. News older than maxAge is not sent.
        lanes:
          live:     {topics: [news.events],   maxAge: 15m}
          backfill: {topics: [news.backfill], maxAge: none, floor: 10%}

        # Where the outcome of every event goes, and the events that failed.
        results:     {topic: news.results}
        deadLetters: {topic: news.dead-letters}

        # The notification hub. The key needs the Send right.
        hub:
          connectionString: ${NEWSWIRE_HUB_CONNECTION_STRING}
          name: breaking-news

        # What phones get. In template mode each device decides how a notification looks.
        payload:
          mode: template            # or native, with platforms: [apple, fcmv1, windows]
          message: "Breaking {{category}} News : {{headline}}"
        rate: {perSecond: 500, burst: 50}

        # The tags that readers follow. Without this section: World, Politics, Business, Technology, Science, Sports.
        # categories:
        #   World: {tag: World, names: [world, international], subjects: [medtop:11000000]}

        # What readers may follow beside categories: events name it in interests, as in "team:bvb".
        # interests: {team: {tag: "team_{id}"}, author: {tag: "author_{id}", from: "/authors/*/id"}}

        # Which environment this hub belongs to; events stamped otherwise are withheld. Tests reach these readers only.
        # environment: production
        # test: {tag: staff}

        # Hours in which ordinary news waits until the morning.
        # quiet:
        #   - {categories: [World], from: "22:00", to: "07:00", zone: Europe/Berlin, do: delay, exceptUrgency: 2}

        # Feeds that newswire ingest follows.
        # ingest:
        #   contact: https://news.example.org/bot
        #   feeds:
        #     - {name: world, url: "https://news.example.org/world.xml", category: World}

        # Lets newswire telemetry ask the hub how many devices a send has reached.
        # telemetry: {topic: news.telemetry}

        # Health, metrics and the dashboard; here with a token, which callers from other machines need to give orders.
        # http: {listen: 0.0.0.0:9464, token: "${file:token}"}

        """
}
