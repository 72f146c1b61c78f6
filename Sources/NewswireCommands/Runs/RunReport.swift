package import Backfill
import ByteText
package import EditorialControl
import NewsModel

/// Runs as a table and as sentences for people, and as one JSON object each for programs.
package enum RunReport {
    package static func table(_ runs: [(id: String, figures: RunFigures)], hasColours: Bool) -> String {
        var table = TextTable(
            [
                .left("run", max: 64), .right("published"), .right("settled"), .right("open"), .right("rate"),
                .right("left"), .left("outcomes", max: 80), .left("last event (UTC)", max: 60),
            ], hasColours: hasColours)
        for (id, figures) in runs {
            table.add([
                .init(id), .init(grouped(figures.published)), .init(grouped(figures.settled)),
                .init(grouped(figures.open), colour: figures.open > 0 ? .yellow : nil),
                .init("\(decimal(tenths: Int64(figures.rate * 10)))/s"),
                .init(figures.open == 0 ? "-" : left(figures) ?? "unknown"), .init(outcomes(figures)),
                .init(figures.last.map { "\($0.event) at \($0.at.short)" } ?? "-"),
            ])
        }
        return table.text
    }

    /// A line about settled deliveries. While the run's records are still read, it shows the published events instead.
    package static func progress(of run: String, _ figures: RunFigures, isReading: Bool) -> String {
        if isReading { return "run \(run): reading; \(counted(figures.published, "event")) published" }
        let all = counted(figures.settled + figures.open, "delivery", plural: "deliveries")
        var text = "run \(run): \(grouped(figures.settled)) of \(all) settled"
        guard figures.open > 0 else { return text }
        text += ", \(decimal(tenths: Int64(figures.rate * 10)))/s"
        if let left = left(figures) { text += ", \(left) left" }
        return text
    }

    /// A line about an order that stops a run.
    package static func line(_ order: Order, stopping run: String) -> String {
        guard case .stop(let gate) = order.scope else { return "" }
        let reason = order.reason.map { ": \($0)" } ?? ""
        return "run \(run) stands still: \(order.by) stopped \(gate.phrase) at \(order.at.short) UTC\(reason); "
            + "to go on: newswire resume --config FILE \(gate.word)"
    }

    /// The time left in hours, minutes and seconds; `nil` while it is not known.
    private static func left(_ figures: RunFigures) -> String? {
        guard let seconds = figures.secondsLeft else { return nil }
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(seconds / 3_600):\(two(seconds / 60 % 60)):\(two(seconds % 60))"
    }

    private static func outcomes(_ figures: RunFigures) -> String {
        let parts = sorted(figures).map { "\(grouped($0.count)) \($0.outcome.rawValue)" }
        return parts.isEmpty ? "-" : parts.joined(separator: ", ")
    }

    /// The outcomes in the order in which they are explained everywhere.
    private static func sorted(_ figures: RunFigures) -> [(outcome: Outcome, count: Int)] {
        Outcome.allCases.compactMap { outcome in figures.outcomes[outcome].map { (outcome, $0) } }
    }

    /// A JSON object on one line.
    ///
    /// - Parameter verdict: the findings, if the run was verified.
    package static func json(_ run: String, _ figures: RunFigures, verdict: RunVerdict? = nil) -> String {
        JSONLine.object { json in
            json.field("run", run)
            json.field("published", figures.published)
            json.object("outcomes") { json in
                for (outcome, count) in sorted(figures) { json.field(named: outcome.rawValue, Int64(count)) }
            }
            json.field("open", figures.open)
            json.field("rate", (figures.rate * 10).rounded() / 10)
            if let left = figures.secondsLeft { json.field("secondsLeft", left) } else { json.null("secondsLeft") }
            if let last = figures.last { json.field("lastEvent", last.event) } else { json.null("lastEvent") }
            json.field("lastAt", figures.last?.at)
            guard let verdict else { return }
            json.field("sound", verdict.isSound)
            json.object("missing") { finding(verdict.missing, &$0) }
            json.object("held") { finding(verdict.held, &$0) }
            json.object("doubled") { finding(verdict.doubled, &$0) }
            json.object("repeated") { finding(verdict.repeated, &$0) }
            json.object("unexplained") { finding(verdict.unexplained, &$0) }
        }
    }

    private static func finding(_ finding: RunVerdict.Finding, _ json: inout JSONWriter) {
        json.field("count", finding.count)
        json.array("names", of: finding.names)
    }
}

/// Shows people the progress of a followed run: a line that is redrawn on a terminal, or elsewhere a line a minute. Prints a
/// line whenever orders stop the run or no longer do.
struct RunWatch {
    private let run: String
    private let terminal: Terminal
    private let status: StatusLine
    private var orders: [Order] = []
    private var toldAt: ContinuousClock.Instant

    private static let interval = Duration.seconds(60)

    init(_ run: String, on terminal: Terminal, at now: ContinuousClock.Instant) {
        self.run = run
        self.terminal = terminal
        status = StatusLine(terminal)
        toldAt = now
    }

    mutating func show(_ progress: RunFollower.Progress, at now: ContinuousClock.Instant) {
        for line in changes(progress.standing) { tell(line) }
        let text = RunReport.progress(of: run, progress.figures, isReading: progress.isReading)
        if !terminal.isInteractive, toldAt.duration(to: now) >= Self.interval {
            toldAt = now
            tell(text)
        }
        status.draw(at: now) { _ in text }
    }

    func clear() { status.clear() }

    private func tell(_ line: String) {
        status.clear()
        terminal.plainLine(line)
    }

    /// Lines about changes of the orders that stop the run.
    private mutating func changes(_ standing: [Order]) -> [String] {
        defer { orders = standing }
        if standing.isEmpty { return orders.isEmpty ? [] : ["run \(run) continues"] }
        return standing.filter { !orders.contains($0) }.map { RunReport.line($0, stopping: run) }
    }
}
