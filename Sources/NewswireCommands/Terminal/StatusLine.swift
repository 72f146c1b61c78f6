/// A line of text that is redrawn on a terminal, and not shown elsewhere.
struct StatusLine {
    private let terminal: Terminal
    private let isShown: Bool
    private var drawnAt: ContinuousClock.Instant?

    init(_ terminal: Terminal) {
        self.terminal = terminal
        isShown = terminal.isInteractive
    }

    /// Draws at most ten times a second.
    mutating func draw(_ text: @autoclosure () -> String, at now: ContinuousClock.Instant) {
        guard isShown else { return }
        if let drawnAt, drawnAt.duration(to: now) < .milliseconds(100) { return }
        drawnAt = now
        terminal.write("\r\u{1B}[K" + TextWidth.cut(text().plain, to: max(terminal.width - 1, 10)))
    }

    /// Erases the line to make room for another line of text.
    func clear() {
        if isShown { terminal.write("\r\u{1B}[K") }
    }
}
