import NewsModel

/// What a demo ends with.
struct DemoSummary {
    let results: ResultTally.State
    let events: Int
    /// Notifications the hub has accepted, by its own count.
    let received: Int

    init(_ results: ResultTally.State, events: Int, received: Int) {
        self.results = results
        self.events = events
        self.received = received
    }

    func text(_ output: Terminal) -> String {
        var table = TextTable(
            [.init(title: "outcome"), .init(title: "events", isRightAligned: true)], hasColours: output.hasColours)
        for outcome in Outcome.allCases {
            guard let count = results.outcomes[outcome] else { continue }
            table.add([.init(outcome.rawValue, colour: outcome.colour), .init(ProgressBar.grouped(count))])
        }
        let open = events - results.count
        if open > 0 { table.add([.init("not settled", colour: .yellow), .init(ProgressBar.grouped(open))]) }
        var text =
            results.count > ResultTally.State.shownMax
            ? "… and \(ProgressBar.grouped(results.count - ResultTally.State.shownMax)) more\n" : ""
        text += "\n" + table.text
        text += "\n\(ProgressBar.grouped(received)) notifications at the hub"
        if let median = results.hubTime(percent: 50), let slow = results.hubTime(percent: 99) {
            text +=
                "; its reply took \(Self.milliseconds(median)) ms (median), \(Self.milliseconds(slow)) ms (99th percentile)"
        }
        return text + "\n"
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let tenths = duration.nanoseconds / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
