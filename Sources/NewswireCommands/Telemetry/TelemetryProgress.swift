import ByteText
import Dispatch
import HubTelemetry
import Logging
import NewsModel
import PublisherService
import Synchronization
import TelemetryIO

/// The last report of a service, which is kept after the service has ended.
final class LastReport: Sendable {
    private let kept: Mutex<TelemetryReport>

    init(_ start: Instant) {
        kept = Mutex(
            TelemetryReport(
                at: start, startedAt: start, figures: TelemetryFigures(), open: 0, oldest: nil, problem: nil,
                isAssigned: false))
    }

    var report: TelemetryReport { kept.withLock { $0 } }

    func keep(_ report: TelemetryReport) { kept.withLock { $0 = report } }

    func ask(_ service: TelemetryService) async -> TelemetryReport {
        if let report = await service.report() { keep(report) }
        return report
    }
}

/// A line that is redrawn on a terminal every second, and not shown elsewhere.
final class TelemetryProgress: Sendable {
    private let terminal = Terminal(descriptor: 1)
    private let task: Task<Void, Never>?

    init(_ last: LastReport, _ service: TelemetryService) {
        let terminal = terminal
        guard terminal.isInteractive else {
            task = nil
            return
        }
        task = Task {
            while !Task.isCancelled {
                let text = Self.text(await last.ask(service), width: terminal.width)
                if !Task.isCancelled { terminal.write("\r\u{1B}[K" + text) }
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }

    /// Ends the updates and erases the line.
    func end() {
        guard let task, !task.isCancelled else { return }
        task.cancel()
        terminal.write("\r\u{1B}[K")
    }

    static func text(_ report: TelemetryReport, width: Int) -> String {
        var text = "\(counted(report.figures.ended, "send")) followed, \(grouped(report.open)) open"
        if report.figures.targets > 0 {
            text +=
                "; \(grouped(Int(report.figures.successes))) of \(counted(Int(report.figures.targets), "device")) reached"
        }
        if let problem = report.problem { text += "; \(problem.rawValue)" }
        return TextWidth.cut(text, to: max(width - 1, 10))
    }

    /// The figures of a report for the log.
    static func metadata(_ report: TelemetryReport) -> Logger.Metadata {
        [
            "sends": "\(report.figures.ended)", "open": "\(report.open)", "devices": "\(report.figures.targets)",
            "reached": "\(report.figures.successes)", "records": "\(report.figures.stored)",
        ]
    }
}
