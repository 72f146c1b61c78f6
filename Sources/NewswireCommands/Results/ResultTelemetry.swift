import ByteText
import HubTelemetry
import KafkaIO
import KafkaModel
import NewsModel
import NotificationHub

/// The hub's telemetry about the sends of results.
struct ResultTelemetry {
    private var table = TelemetryTable(countMax: Self.countMax)
    /// The number of records that cannot be read.
    private(set) var unreadable = 0
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
    }

    /// The number of sends without room in the table. Their results show no telemetry.
    var dropped: Int { table.dropped }

    /// The last record about the send of an accepted result. Also adds that send to the sums.
    mutating func take(_ result: ResultRecord) -> TelemetryRecord? {
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
