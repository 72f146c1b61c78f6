import ArgumentParser
import Backfill
import ByteText
import NewsModel
import NewswireSettings
import PublishEngine

/// The backfill options of `newswire publish`: the run's name, its bounds and hours, and whether phones ring.
struct BackfillOptions: ParsableArguments {
    @Option(
        name: .customLong("run"),
        help: .init(
            "The name of this run, in the header \(HeaderName.run) and in all results: \(RunID.rule). Made up when not given.",
            valueName: "id"))
    var runID: String?
    @Flag(help: "Let phones ring. Without it, a lane below the first disturbs nobody.") var ring = false
    @Option(help: .init("The exact number of events, for those that ring.", valueName: "n")) var confirm: Int?
    @Option(help: .init("Leave out all events after the first n.", valueName: "n")) var maxEvents: Int?
    @Option(help: .init("Leave out all events after the first n of a category.", valueName: "n")) var maxPerCategory:
        Int?
    @Option(
        help: .init(
            "Leave out events published longer ago, e.g. 30d. When a run is continued, by its beginning.",
            valueName: "duration"))
    var maxAge: String?
    @Option(
        help: .init(
            "Publish between these hours only, e.g. 01:00-05:00, and pause outside of them; without --rate, no faster than the hub sends, as what waits when the hours end is sent all the same.",
            valueName: "from-to"))
    var between: String?
    @Option(help: .init("The time zone of --between, e.g. Europe/Berlin.", valueName: "zone")) var zone: String?

    func validate() throws {
        if let runID, RunID(runID) == nil { throw ValidationError("--run must be \(RunID.rule).") }
        if let confirm, confirm < 0 { throw ValidationError("--confirm must be 0 or more.") }
        for (name, value) in [("--max-events", maxEvents), ("--max-per-category", maxPerCategory)] {
            if let value, value < 1 { throw ValidationError("\(name) must be 1 or more.") }
        }
        if let maxAge, SettingsValue.duration(maxAge) == nil {
            throw ValidationError("--max-age must be a duration such as 12h or 30d.")
        }
        if between == nil, zone != nil { throw ValidationError("--zone is the zone of --between.") }
        _ = try schedule
    }

    var run: RunID? { runID.flatMap(RunID.init) }

    var bounds: EventSelection.Bounds {
        EventSelection.Bounds(
            events: maxEvents, perCategory: maxPerCategory, age: maxAge.flatMap(SettingsValue.duration))
    }

    /// The hours of --between, or `nil` if events may be published at any time.
    var schedule: PublishSchedule? {
        get throws {
            guard let between else { return nil }
            guard let zone else {
                throw ValidationError("--between needs the zone of its clocks, e.g. --zone Europe/Berlin.")
            }
            guard let clocks = ClockZone(named: zone) else {
                throw ValidationError(
                    "'\(zone.plain)' is not a time zone of this machine, such as Europe/Berlin or UTC.")
            }
            guard let schedule = PublishSchedule(between: between, zone: clocks) else {
                throw ValidationError("--between must be two different times of day, such as 01:00-05:00.")
            }
            return schedule
        }
    }
}

/// The option `--dry-run` and the options that belong to it.
struct DryRunOptions: ParsableArguments {
    @Flag(
        help: "Publish nothing: count what would become of the events, how long it would take and what it would cost.")
    var dryRun = false
    @Option(
        help: .init(
            "With --dry-run, how many devices a category has, e.g. World=120000; repeat for others.",
            valueName: "category=devices"))
    var audience: [String] = []
    @Option(
        help: .init(
            "With --dry-run, the partitions of the lane's topic; asked of the broker when not given.", valueName: "n"))
    var partitions: Int32?
    @Flag(help: "With --dry-run, print one JSON object, for programs.") var json = false

    /// Maximum number of devices accepted for a category. No hub has more.
    private static let devicesMax = 10_000_000_000

    func validate() throws {
        if !dryRun, json || !audience.isEmpty || partitions != nil {
            throw ValidationError("--json, --audience and --partitions belong to --dry-run.")
        }
        if let partitions, !DryRun.partitionsAllowed.contains(partitions) {
            throw ValidationError("--partitions must be 1 to \(DryRun.partitionsAllowed.upperBound).")
        }
        for text in audience where Self.pair(text) == nil {
            throw ValidationError("'\(text.plain)' is not a category and its number of devices, such as World=120000.")
        }
    }

    private static func pair(_ text: String) -> (category: String, devices: Int)? {
        guard let end = text.lastIndex(of: "="), let devices = Int(digits: text[end...].dropFirst()),
            end > text.startIndex, devices <= devicesMax
        else { return nil }
        return (String(text[..<end]), devices)
    }

    /// - Parameter categories: the category names in the settings, compared without regard to case.
    func devices(in categories: [String]) throws -> [String: Int] {
        var devices: [String: Int] = [:]
        for (name, count) in audience.compactMap(Self.pair) {
            guard let category = categories.first(where: { $0.lowercased() == name.lowercased() }) else {
                throw ExitCode.wrongUsage(name, isNot: "a category", known: categories)
            }
            devices[category] = count
        }
        return devices
    }
}

/// The arguments of commands that read files of events.
struct EventFileArguments: ParsableArguments {
    @Option(
        help: "ndjson, array, document, csv or newsml (NITF too); by default detected.",
        completion: .list(EventFileFormat.allCases.map(\.rawValue)))
    var format: String?
    @Option(
        help: .init(
            "A header of every record, which may decide its format (events.formats); may be given several times.",
            valueName: "name=value"))
    var header: [String] = []
    @Argument(help: .init("Files of events, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    func validate() throws {
        if let format, EventFileFormat(rawValue: format) == nil {
            throw ValidationError(format, isNot: "a format", known: EventFileFormat.allCases.map(\.rawValue))
        }
        for text in header {
            let name = text.prefix { $0 != "=" }.lowercased()
            guard text.contains("="), !name.isEmpty, !name.hasPrefix("nw-") else {
                throw ValidationError("--header must be NAME=VALUE, and no header of newswire's own (nw-…).")
            }
        }
    }

    var headers: [RecordHeader] {
        header.map { text in
            let name = text.prefix { $0 != "=" }
            return RecordHeader(String(name), String(text.dropFirst(name.count + 1)))
        }
    }

    /// The format of --format; `nil` to detect it.
    var chosenFormat: EventFileFormat? { format.flatMap(EventFileFormat.init(rawValue:)) }
}
