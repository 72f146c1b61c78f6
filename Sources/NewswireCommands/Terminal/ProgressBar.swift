import ByteText

/// A line of text that is redrawn on a terminal, and not shown elsewhere. Used from one thread.
final class StatusLine {
    private let terminal: Terminal
    private let isShown: Bool
    private var drawnAt: ContinuousClock.Instant?

    init(_ terminal: Terminal) {
        self.terminal = terminal
        isShown = terminal.isInteractive
    }

    /// Draws at most ten times a second.
    ///
    /// - Parameter text: makes the text for a width in characters.
    func draw(at now: ContinuousClock.Instant, _ text: (_ width: Int) -> String) {
        guard isShown else { return }
        if let drawnAt, drawnAt.duration(to: now) < .milliseconds(100) { return }
        drawnAt = now
        let width = terminal.width
        terminal.write("\r\u{1B}[K" + TextWidth.cut(text(width).plain, to: max(width - 1, 10)))
    }

    /// Erases the line to make room for another line of text.
    func clear() { if isShown { terminal.write("\r\u{1B}[K") } }
}

/// A progress line that is redrawn on a terminal, and not shown elsewhere. Used from one thread.
package final class ProgressBar {
    private let line: StatusLine
    private let start: ContinuousClock.Instant
    /// The total time of pauses, in which no work was due.
    private var paused = Duration.zero

    package init(_ terminal: Terminal, at now: ContinuousClock.Instant) {
        line = StatusLine(terminal)
        start = now
    }

    /// Draws at most ten times a second.
    /// - Parameters:
    ///   - share: the completed share, 0 to 1; `nil` if the end is unknown.
    ///   - takes: the elapsed time for a working time, including pauses.
    func draw(share: Double?, events: Int, at now: ContinuousClock.Instant, takes: (Duration) -> Duration = { $0 }) {
        line.draw(at: now) { width in
            Self.text(
                share: share, events: events, elapsed: start.duration(to: now) - paused, width: width, takes: takes)
        }
    }

    /// Excludes a pause from the measured pace.
    func pause(_ time: Duration) { paused += time }

    /// Erases the bar to make room for a line of text.
    func clear() { line.clear() }

    package static func text(
        share: Double?, events: Int, elapsed: Duration, width: Int, takes: (Duration) -> Duration = { $0 }
    ) -> String {
        let seconds = max(Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18, 0.001)
        var facts = counted(events, "event")
        let rate = Int(Double(events) / seconds)
        if rate > 0 { facts += "  \(grouped(rate))/s" }
        guard let share, share.isFinite else { return TextWidth.cut(facts, to: max(width - 1, 10)) }
        let done = min(max(share, 0), 1)
        if done > 0.01 {
            let left = takes(.seconds(Int64(seconds / done - seconds))).components.seconds
            facts +=
                left < 36_000
                ? "  \(left / 60):\(left % 60 < 10 ? "0" : "")\(left % 60) left" : "  \(left / 3_600) h left"
        }
        let percent = "\(Int(done * 100))%"
        let room = max(min(width - facts.count - percent.count - 8, 40), 10)
        let filled = Int(done * Double(room))
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: room - filled)
        return TextWidth.cut("\(bar) \(percent)  \(facts)", to: max(width - 1, 10))
    }
}
