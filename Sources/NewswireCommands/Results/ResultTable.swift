package import HubTelemetry
package import NewsModel
import NotificationHub

/// Results as rows that are printed one by one, so the widths of their columns are fixed in advance.
package struct ResultTable: Sendable {
    private let hasColours: Bool
    private let widths: [Int]
    private let columns: [TextTable.Column]

    private static let standardColumns: [TextTable.Column] = [
        .init(title: "settled (UTC)"), .init(title: "outcome"), .init(title: "event"), .init(title: "story"),
        .init(title: "platform"),
        .init(title: "categories"), .init(title: "status", isRightAligned: true),
        .init(title: "total ms", isRightAligned: true), .init(title: "remarks"),
    ]

    /// - Parameters:
    ///   - width: the width in characters. The event's id, its story and the remarks share what other columns leave.
    ///   - hasTelemetry: true to add a column for the hub's telemetry.
    package init(width: Int, hasColours: Bool, hasTelemetry: Bool = false) {
        self.hasColours = hasColours
        let reached = hasTelemetry ? [18] : []
        var columns = Self.standardColumns
        if hasTelemetry {
            columns.insert(.init(title: "reached", isRightAligned: true), at: columns.count - 1)
        }
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
                .init(result.categories.joined(separator: ",")), .init(result.httpStatus.map(String.init) ?? "-"),
                .init(total),
            ] + reached.map { .init($0) } + [.init(Self.remarks(result))], widths)
    }

    private static func remarks(_ result: ResultRecord) -> String {
        var remarks = result.error.map { ["\($0.code): \($0.detail)"] } ?? []
        // Inserted first, because the end may be cut. Without an id, the id's column already shows the place.
        if result.outcome == .undecodable, result.eventID != nil { remarks.insert("at \(result.source)", at: 0) }
        if result.afterRecall { remarks.append("recalled while it was on its way") }
        if !result.cut.isEmpty { remarks.append("cut: \(result.cut.joined(separator: ", "))") }
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
