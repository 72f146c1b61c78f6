import ByteText
import EditorialControl

/// Shows people the progress of a followed run: a line that is redrawn on a terminal, or elsewhere a line a minute. Prints a
/// line whenever orders stop the run or no longer do.
struct RunWatch {
    private let run: String
    private let terminal: Terminal
    private var status: StatusLine
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
        status.draw(text, at: now)
    }

    func clear() { status.clear() }

    private func tell(_ line: String) {
        status.clear()
        terminal.plainLine(line)
    }

    /// Lines about changes of the orders that stop the run.
    private mutating func changes(_ standing: [Order]) -> [String] {
        defer { orders = standing }
        if standing.isEmpty { return orders.isEmpty ? [] : ["run \(run) goes on"] }
        return standing.filter { !orders.contains($0) }.map { RunReport.line($0, stopping: run) }
    }
}
