import ByteText
package import NewsModel

/// The tallies of all runs in one partition or in several. Its text fits beside a committed offset, so that the next command
/// reads only what was added since.
package struct RunTable: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package var tally = RunTally()
        /// The time at which its newest record was written.
        package var heardAt = Instant(milliseconds: 0)

        package init() {}
    }

    package private(set) var runs: [String: Entry] = [:]
    /// The number of records of runs beyond `runsMax`.
    package private(set) var ignored = 0

    /// Maximum number of runs.
    package static let runsMax = 10_000
    /// Maximum length of a run's id in bytes, as in results.
    private static let idBytesMax = 128

    package init() {}

    /// Counts a record of a lane's topic, which may belong to any run.
    ///
    /// - Parameter group: the consumer group whose results are counted.
    package mutating func add(source record: SourceRecord, for group: String) {
        guard let run = RunSource.run(of: record, for: group) else { return }
        change(run, record) { $0.add(RunSource(record.headers)) }
    }

    /// Counts a record of the results topic.
    ///
    /// - Parameter run: the run that the result names.
    package mutating func add(_ result: RunResult, of run: String, _ record: SourceRecord) {
        change(run, record) { $0.add(result) }
    }

    private mutating func change(_ run: String, _ record: SourceRecord, _ body: (inout RunTally) -> Void) {
        let id = run.cut(toBytes: Self.idBytesMax)
        guard runs[id] != nil || runs.count < Self.runsMax else {
            ignored += 1
            return
        }
        body(&runs[id, default: Entry()].tally)
        if let time = record.timestamp { runs[id, default: Entry()].heardAt = max(runs[id]?.heardAt ?? time, time) }
    }

    package mutating func merge(_ other: RunTable) {
        ignored += other.ignored
        for (id, entry) in other.runs {
            guard runs[id] != nil || runs.count < Self.runsMax else {
                ignored += 1
                continue
            }
            runs[id, default: Entry()].tally.merge(entry.tally)
            runs[id, default: Entry()].heardAt = max(runs[id]?.heardAt ?? entry.heardAt, entry.heardAt)
        }
    }

    // MARK: As text

    /// Maximum length of the text in bytes, which is what a broker accepts beside an offset.
    package static let textBytesMax = 4_000
    /// Age from which a run may make room for newer ones, counted from the newest record.
    private static let kept = Duration.seconds(7 * 86_400)

    /// - Returns: `nil` if the text would be too long, or if records were ignored.
    package var text: String? {
        if ignored > 0 { return nil }
        let newest = runs.values.map(\.heardAt).max() ?? Instant(milliseconds: 0)
        let sorted = runs.sorted { ($1.value.heardAt, $0.key) < ($0.value.heardAt, $1.key) }
        var lines: [String] = []
        var room = Self.textBytesMax - Self.version.utf8.count
        for (id, entry) in sorted {
            let line = Self.line(id, entry)
            room -= line.utf8.count + 1
            if room < 0 {
                guard newest - entry.heardAt > Self.kept else { return nil }
                break
            }
            lines.append(line)
        }
        return ([Self.version] + lines).joined(separator: " ")
    }

    /// - Returns: `nil` for a text that `text` does not produce.
    package init?(text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.first.map(String.init) == Self.version, text.utf8.count <= Self.textBytesMax else { return nil }
        for word in words.dropFirst() {
            guard let (id, entry) = Self.entry(word), runs[id] == nil else { return nil }
            runs[id] = entry
        }
    }

    private static let version = "runs1"

    private static func line(_ id: String, _ entry: Entry) -> String {
        let tally = entry.tally
        let counts = [tally.published, tally.redriven, tally.returned, tally.returnedAlone].map(String.init)
        let times = [entry.heardAt, tally.first, tally.last?.at].map { $0.map { String($0.milliseconds) } ?? "" }
        let results = tally.results.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            "\($0.key.rawValue):\($0.value)"
        }
        let pace = tally.pace.counts.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }
        let last = Base64.encode(Array((tally.last?.event ?? "").cut(toBytes: idBytesMax).utf8))
        return
            ([Base64.encode(Array(id.utf8))] + counts + times
            + [last, results.joined(separator: ";"), pace.joined(separator: ";")]).joined(separator: ",")
    }

    private static func entry(_ line: Substring) -> (String, Entry)? {
        let fields = line.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard fields.count == 11, let id = text(fields[0]), let heardAt = Int64(fields[5]), let last = text(fields[8])
        else { return nil }
        let counts = fields[1...4].compactMap { Int($0) }
        guard counts.count == 4, counts.allSatisfy({ 0...countMax ~= $0 }) else { return nil }
        var entry = Entry()
        entry.heardAt = Instant(milliseconds: heardAt)
        (entry.tally.published, entry.tally.redriven) = (counts[0], counts[1])
        (entry.tally.returned, entry.tally.returnedAlone) = (counts[2], counts[3])
        entry.tally.first = Int64(fields[6]).map { Instant(milliseconds: $0) }
        entry.tally.last = Int64(fields[7]).map { .init(event: last, at: Instant(milliseconds: $0)) }
        guard let results = pairs(fields[9]), let pace = pairs(fields[10]) else { return nil }
        for (name, count) in results {
            guard let outcome = Outcome(rawValue: name) else { return nil }
            entry.tally.results[outcome] = count
        }
        var steps: [Int64: Int] = [:]
        for (name, count) in pace {
            guard let step = Int64(name), 0...Int64(countMax) ~= step else { return nil }
            steps[step] = count
        }
        entry.tally.pace = RunPace(counts: steps)
        return (id, entry)
    }

    private static func text(_ base64: String) -> String? {
        Base64.decode(base64).flatMap { String(validating: $0, as: UTF8.self) }
    }

    private static func pairs(_ text: String) -> [(String, Int)]? {
        let parts = text.split(separator: ";").map { $0.split(separator: ":") }
        guard parts.allSatisfy({ $0.count == 2 }) else { return nil }
        let pairs = parts.compactMap { part in Int(part[1]).map { (String(part[0]), $0) } }
        return pairs.count == parts.count && pairs.allSatisfy { 0...countMax ~= $0.1 } ? pairs : nil
    }

    /// Maximum of a count. No count gets this far, and no sum of such counts overflows.
    private static let countMax = 1 << 48
}
