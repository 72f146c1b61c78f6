import ArgumentParser
import Backfill
import Foundation
import KafkaIO
import NewsModel
import NewswireSettings
import PublishEngine

struct ExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Says what would become of events, and why, without sending anything.",
        discussion: """
            Reads the files that 'newswire publish' reads, gives their events to the code that decides in 'newswire \
            run', and prints for each: the outcome and its reason, its categories and by which rule, and the exact \
            requests, without the key. Events of a file are decided in their order: a second one with the same id is a \
            duplicate. Editors' orders, the pace and other processes are left out.

            Examples:
              newswire explain event.json
              newswire explain archive.ndjson --lane backfill --json
              newswire explain event.json --at 2026-11-22T23:30:00+01:00

            For events in a newsroom's own format (events.formats) it also prints which pointer gave which value. A file \
            that begins with the five bytes of a schema registry is one record, as kcat -f %s writes it.

            Needs no broker, no hub and no key of it; for such a record it asks the registry.

            Exit code 1 if a file cannot be read or holds no events; events that would fail are no failure here.
            """)

    @OptionGroup var configurationOption: ConfigurationOption
    @Option(
        help: "The lane that the events would come from; by default the first.", completion: ConfiguredNames.lanes)
    var lane: String?
    @Option(help: "The topic that the events would come from; by default the lane's first.") var topic: String?
    @Option(help: .init("Decide as at this time (RFC 3339), not now.", valueName: "time")) var at: String?
    @Flag(help: "Name single readers as the request does; otherwise results and this command name pseudonyms.")
    var showUsers = false
    @Flag(help: "Print one JSON object per event, for programs.") var json = false
    @OptionGroup var input: EventFileArguments

    func validate() throws {
        if let at, Instant(rfc3339: at) == nil {
            throw ValidationError("--at must be a date and time with an offset, such as 2026-11-22T23:30:00+01:00.")
        }
    }

    func run() async throws {
        var settings = try configurationOption.settings()
        let lanes = settings.engine.lanes.map(\.name)
        guard let position = lane.map(lanes.firstIndex(of:)) ?? 0 else {
            throw ExitCode.wrongUsage(lane ?? "", isNot: "a lane", known: lanes)
        }
        if let topic {
            let topics = settings.engine.lanes[position].topics
            guard topics.contains(topic) else {
                throw ExitCode.wrongUsage(topic, isNot: "a topic of lane \(lanes[position])", known: topics)
            }
            settings.engine.lanes[position].topics = [topic]
        }
        let wall = at.flatMap { Instant(rfc3339: $0) } ?? ServiceClock.wall
        var reader = try EventExplanation.Reader(settings, lane: position, at: wall, showsUsers: showUsers)
        var isSound = true
        for path in input.files {
            do {
                if settings.registry != nil, let value = RegistryRecord.value(path) {
                    try show(reader.explain(value, headers: input.headers))
                } else if try explain(path, &reader) == 0 {
                    notice("\(path.plain): holds no events")
                    isSound = false
                }
            } catch let failure as EventFile.Failure {
                notice("error: \(failure)")
                isSound = false
            }
        }
        if !isSound { throw ExitCode.failure }
    }

    /// - Returns: the number of events and bad lines in the file.
    private func explain(_ path: String, _ reader: inout EventExplanation.Reader) throws -> Int {
        let file = try EventFile(path: path, format: input.chosenFormat)
        var count = 0
        while let items = try file.next() {
            for item in items {
                count += 1
                switch item.content {
                case .event(let value):
                    try show(reader.explain(value, headers: input.headers + reader.marks(of: item)))
                case .bad(let reason): notice("\(file.name):\(item.line): \(reason)")
                case .broken(let reason):
                    throw EventFile.Failure("\(file.name):\(item.line): \(reason)")
                }
            }
        }
        return count
    }

    private func show(_ explanation: EventExplanation) throws {
        let output = Terminal.standardOutput
        if json {
            try output.line(explanation.json)
        } else {
            try output.write(explanation.text(hasColours: output.hasColours))
        }
    }
}

/// A file with one record as it stands on a topic, with the five bytes of a schema registry.
private enum RegistryRecord {
    /// - Returns: `nil` for any other file.
    static func value(_ path: String) -> [UInt8]? {
        guard let file = FileHandle(forReadingAtPath: path),
            let data = try? file.read(upToCount: EventLimits.document + 1), data.first == 0
        else { return nil }
        return Array(data)
    }
}
