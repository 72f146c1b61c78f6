import ByteText
package import HubTelemetry
import KafkaIO
import KafkaModel
package import NewsModel
import NotificationHub

/// Results as rows that are printed one by one, so the widths of their columns are fixed in advance.
package struct ResultTable: Sendable {
    private let hasColours: Bool
    private let widths: [Int]
    private let columns: [TextTable.Column]

    private static let standardColumns: [TextTable.Column] = [
        "settled (UTC)", "outcome", "event", "story",
        "platform",
        "categories", .right("status"),
        .right("total ms"), "remarks",
    ]

    /// - Parameters:
    ///   - width: the width in characters. The event's id, its story and the remarks share what other columns leave.
    ///   - hasTelemetry: true to add a column for the hub's telemetry.
    package init(width: Int, hasColours: Bool, hasTelemetry: Bool = false) {
        self.hasColours = hasColours
        let reached = hasTelemetry ? [18] : []
        var columns = Self.standardColumns
        if hasTelemetry { columns.insert(.right("reached"), at: columns.count - 1) }
        self.columns = columns
        let fixed = [19, 11, 0, 0, 12, 18, 6, 8] + reached
        let left = max(width - fixed.reduce(0, +) - 2 * fixed.count, 40)
        let id = min(max(left / 4, 12), 40)
        let story = min(max(left / 6, 12), 28)
        widths = [19, 11, id, story, 12, 18, 6, 8] + reached + [max(left - id - story, 12)]
    }

    package var title: String {
        TextTable(columns, hasColours: hasColours).line(
            columns.map { .init($0.title, colour: .bold) }, widths)
    }

    package func line(_ result: ResultRecord, _ telemetry: TelemetryRecord? = nil) -> String {
        let total = result.latency.total.map { String($0.nanoseconds / 1_000_000) } ?? "-"
        let reached = columns.count > Self.standardColumns.count ? [telemetry?.reached ?? "-"] : []
        return TextTable(columns, hasColours: hasColours).line(
            [
                .init(result.settledAt.short), .init(result.outcome.rawValue, colour: result.outcome.colour),
                .init(result.eventID ?? result.source.description), .init(result.story ?? "-"),
                .init(result.platform.rawValue),
                .init(result.audience.joined(separator: ",")), .init(result.httpStatus.map(String.init) ?? "-"),
                .init(total),
            ] + reached.map { .init($0) } + [.init(Self.remarks(result))], widths)
    }

    private static func remarks(_ result: ResultRecord) -> String {
        var remarks = result.error.map { ["\($0.code): \($0.detail)"] } ?? []
        // Inserted first, because the end may be cut. Without an id, the id's column already shows the place.
        if result.outcome == .undecodable, result.eventID != nil { remarks.insert("at \(result.source)", at: 0) }
        if result.afterRecall { remarks.append("recalled while it was on its way") }
        if !result.cut.isEmpty { remarks.append("cut: \(result.cut.joined(separator: ", "))") }
        if result.sends > 1 { remarks.append("\(result.sends) sends") }
        if !result.leftOut.isEmpty { remarks.append("left out: \(result.leftOut.joined(separator: ", "))") }
        return remarks.joined(separator: "; ")
    }
}

extension Outcome {
    var colour: TerminalColour {
        switch facts.kind {
        case .sent: .green
        case .failed: .red
        case .unsent: .yellow
        case .waiting: .grey
        }
    }
}

/// The hub's telemetry about the sends of results.
struct ResultTelemetry {
    private var table = TelemetryTable(countMax: Self.countMax)
    /// The number of records that cannot be read.
    private(set) var unreadable = 0
    /// True if an open transaction hides records before the end of the topic.
    private(set) var isHeldUp = false
    private var sums = (sends: 0, targets: Int64(0), successes: Int64(0), unknown: 0)

    /// Maximum number of sends in the table, about 100 MB.
    private static let countMax = 100_000

    /// Reads the telemetry topic to its present end. Blocks.
    init(_ kafka: KafkaSettings, topic: String, since: Instant?, stop: StopFlag) throws(KafkaFailure) {
        let reader = try TopicReader(settings: kafka, topic: topic, from: since.map { .time($0) } ?? .beginning)
        while !stop.isRaised, !reader.isAtEnd {
            for read in try reader.next(timeout: .milliseconds(500)) {
                guard let value = read.record.value, let record = try? TelemetryRecord(decoding: value) else {
                    unreadable += 1
                    continue
                }
                table.add(record)
            }
        }
        if !stop.isRaised { isHeldUp = reader.hasHiddenRecords() }
    }

    /// The number of sends without room in the table. Their results show no telemetry.
    var dropped: Int { table.dropped }

    /// The last record about the send of an accepted result. Also adds that send to the sums.
    mutating func lastRecord(about result: ResultRecord) -> TelemetryRecord? {
        guard result.outcome == .accepted, let event = result.eventID, let id = result.notificationID else {
            return nil
        }
        let record = table[.init(eventID: event, platform: result.platform, notificationID: id)]
        if let record, record.isHubsLastWord {
            sums.sends += 1
            sums.targets += record.targets
            sums.successes += record.successes
        } else {
            sums.unknown += 1
        }
        return record
    }

    /// The result's line with the telemetry record as one more member.
    static func json(_ result: [UInt8], _ record: TelemetryRecord?) -> [UInt8] {
        guard let record, let end = result.lastIndex(of: UInt8(ascii: "}")) else { return result }
        return result[..<end] + Array(#","telemetry":"#.utf8) + record.json + [UInt8(ascii: "}")]
    }

    var summary: String {
        var text =
            "\(grouped(sums.successes)) of \(counted(sums.targets, "device")) reached by \(counted(sums.sends, "send"))"
        if sums.unknown > 0 { text += "; no last word on \(counted(sums.unknown, "accepted send"))" }
        return text
    }
}

extension TelemetryRecord {
    /// The telemetry in a few words for a table.
    var reached: String {
        if isFinal, state == .completed { return "\(grouped(successes)) of \(grouped(targets))" }
        return isFinal && state == .noTargetFound ? "no device" : state.rawValue
    }
}
