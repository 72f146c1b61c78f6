import ByteText
import NewsModel
import NewswireSettings

/// The report of `newswire publish --dry-run`.
package struct DryRunReport {
    package var tally: DryRunTally
    package var estimate: PushEstimate
    /// The categories of the settings, in their order.
    package var categories: [String]
    /// The expected duration; `nil` if nothing bounds the speed.
    package var takes: Duration?
    /// The number of partitions that the counts assume.
    package var partitions: Int32
    package var samples: [EventExplanation]

    package init(
        tally: DryRunTally, estimate: PushEstimate, categories: [String], takes: Duration?, partitions: Int32,
        samples: [EventExplanation]
    ) {
        self.tally = tally
        self.estimate = estimate
        self.categories = categories
        self.takes = takes
        self.partitions = partitions
        self.samples = samples
    }

    /// The expected duration in seconds, rounded up.
    private var seconds: Int64? { takes.map { ($0.nanoseconds - 1) / 1_000_000_000 + ($0 > .zero ? 1 : 0) } }

    private var counts: [(name: String, events: Int)] {
        categories.map { ($0, tally.count(of: $0)) }.filter { $0.1 > 0 }
    }

    package var json: String {
        let bytes = JSONWriter.object { json in
            json.field("events", tally.events)
            json.field("bad", tally.bad)
            json.field("duplicates", tally[.duplicate])
            json.field("unroutable", tally[.unroutable])
            json.field("expired", tally[.expired])
            json.object("categories") { json in
                for (name, events) in counts { json.field(named: name, Int64(events)) }
            }
            if let seconds { json.field("seconds", seconds) } else { json.null("seconds") }
            if let pushes = estimate.pushes { json.field("pushes", pushes) } else { json.null("pushes") }
            if let cost = estimate.cost {
                json.field("cost", Double(cost.millionths) / 1_000_000)
            } else {
                json.null("cost")
            }
            // With duplicates, unroutable and expired, these outcomes add up to all events.
            for outcome in [Outcome.accepted, .held, .withheld, .superseded, .canceled] {
                json.field(named: outcome.rawValue, Int64(tally[outcome]))
            }
            json.field("expiredWaiting", tally.expiredWaiting)
            json.field("mayBeOvertaken", tally.overtaken)
            json.field("repeats", tally.repeats)
            json.field("tests", tally.tests)
            json.field("personal", tally.personal)
            json.field("skipped", tally.skipped)
            json.field("partitions", Int(partitions))
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package func text(hasColours: Bool) -> String {
        var lines: [String] = []
        if estimate.isLarge {
            let warning = "COST: \(estimate.text)"
            lines += [hasColours ? TerminalColour.red.applied(to: warning) : warning, ""]
        }
        lines.append(counted(tally.events, "event"))
        for (count, what) in facts where count > 0 { lines.append("  \(grouped(count)) \(what)") }
        if tally.bad > 0 { lines.append("beside them \(counted(tally.bad, "bad line"))") }
        if tally.skipped > 0 {
            lines.append("left out by --max-events, --max-per-category or --max-age: \(grouped(tally.skipped))")
        }
        if let oldest = tally.oldest, let newest = tally.newest {
            lines.append("published from \(oldest) to \(newest)")
        }
        if !counts.isEmpty {
            var table = TextTable(
                [.init(title: "category"), .init(title: "events", isRightAligned: true)], hasColours: hasColours)
            for (name, events) in counts { table.add([.init(name), .init(grouped(events))]) }
            lines += ["", table.text.trimmingNewline]
        }
        lines += [
            "", "time: \(seconds.map(Self.words) ?? "as fast as broker and hub take them: nothing bounds the rate")",
        ]
        if !estimate.isLarge { lines.append("cost: \(estimate.text)") }
        if !samples.isEmpty {
            lines += ["", "the first \(samples.count == 1 ? "request" : "requests, of \(samples.count) events"):"]
            lines += samples.map { $0.text(hasColours: hasColours).trimmingNewline }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private var facts: [(Int, String)] {
        [
            (tally[.accepted], "would be sent"),
            (tally[.held], "would be held until they are due, and sent then, if no newer version or recall comes"),
            (tally.tests, "among these are tests, for the testers only"),
            (tally.personal, "among these are for single readers, \(grouped(tally.readers)) in all"),
            (tally.repeats, "of those sent stand in the files a second time, too far behind the first to be noticed"),
            (tally[.duplicate], "are duplicates: an id and version that came before, and are not sent again"),
            (tally[.unroutable], "belong to no category"),
            (tally[.expired], "would be too old when their turn comes"),
            (
                tally.expiredWaiting,
                "of them by waiting: they are sent if the lane gets more than its floor of the rate"
            ),
            (tally[.withheld], "would be withheld"),
            (tally[.superseded], "are older than a version before them"),
            (tally[.canceled], "recall their story, or are recalled"),
            (
                tally.overtaken,
                "of all these may be overtaken while they wait, by a newer version or a recall close to them"
            ),
        ]
    }

    private static func words(_ seconds: Int64) -> String {
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return "\(days) d \(hours) h" }
        if hours > 0 { return "\(hours) h \(minutes) min" }
        return minutes > 0 ? "\(minutes) min \(seconds % 60) s" : "\(seconds) s"
    }
}

extension String {
    fileprivate var trimmingNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
