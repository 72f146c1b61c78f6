import ByteText
import NewsModel

/// Messages about each file and about the whole run.
extension PublishCommand {
    static func report(
        _ summary: FilePublication.Summary, _ path: String, _ terminal: Terminal, isEmpty: Bool? = nil
    ) {
        let name = path == "-" ? "standard input" : path
        let hidden = summary.bad - FilePublication.complaintsShown
        if hidden > 0 { terminal.plainLine("\(name): \(counted(hidden, "further bad line")) not shown") }
        if isEmpty ?? summary.isEmpty { terminal.plainLine("\(name): holds no events") }
        if summary.skipped > 0 {
            terminal.plainLine(
                "\(name): \(counted(summary.skipped, "event")) left out by --max-events, --max-per-category or --max-age"
            )
        }
        if summary.resumed > 0 {
            terminal.plainLine(
                "\(name): \(counted(summary.resumed, "event was", plural: "events were")) published by an earlier command that did not finish"
            )
        }
    }

    static func remedy(_ bad: Int, _ maxBad: Int, isResumable: Bool) -> String {
        "\(counted(bad, "bad line")): more than --max-bad \(maxBad) allows"
            + (isResumable ? "; mend them and run the same command again, which publishes only them" : "")
    }

    static func summary(_ total: FilePublication.Summary, _ begun: Begun, elapsed: Duration) -> String {
        let milliseconds = max(elapsed.nanoseconds / 1_000_000, 1)
        let rate = Int(Int64(total.published) * 1000 / milliseconds)
        var text =
            "published \(counted(total.published, "event")) to \(begun.topic) in \(decimal(tenths: milliseconds / 100)) s"
        if total.published > 1, rate > 0 { text += " (\(grouped(rate))/s)" }
        if total.bad > 0 { text += ", skipped \(counted(total.bad, "bad line"))" }
        if total.skipped > 0 { text += ", left out \(counted(total.skipped, "event"))" }
        return text + ", as run \(begun.run)"
    }
}
