import ArgumentParser
package import Backfill
import ByteText
import KafkaIO
import NewsModel
import NewswireSettings
import PublishEngine

extension PublishCommand {
    /// Counts events without publishing them. Needs the broker only for the number of partitions.
    func runDry() throws {
        let settings = try configurationOption.settings()
        let lane = try lanePosition(settings)
        let categories = settings.categories.map(\.name)
        let audience = try dryRunOptions.devices(in: categories)
        let permission = permission(lane)
        let refusal = permission.refusal(settings.payload)
        let errors = Terminal.standardError
        let start = PublishClock.system.now()
        // Uses the silent form, as devices would get it, unless the settings have no silent form.
        let review = EventReview(
            environment: settings.policy.environment, run: backfill.run,
            isSilent: permission.isSilent && refusal == nil, others: input.headers,
            topic: settings.engine.lanes[lane].topics.first, decoders: settings.decoders)
        let schedule = try backfill.schedule
        let speed = DryRun.Speed(settings.engine, lane: lane, written: try pace(settings), schedule: schedule)
        let partitions = partitionCount(settings, lane)
        var run = DryRun(
            settings.engine, try settings.contentRules(), lane: lane,
            selection: try selection(review, settings, start), headers: review.headers, speed: speed,
            partitions: partitions, start: start)
        var isSound = true
        for path in input.files {
            do {
                if try !rehearse(path, &run) {
                    errors.line("\(path.plain): holds no events")
                    isSound = false
                }
            } catch let failure as EventFile.Failure {
                errors.plainLine("error: \(failure)")
                isSound = false
            }
        }
        if let refusal = refusal ?? permission.refusal(count: run.tally.events) {
            errors.line("it would be refused: \(refusal)")
        }
        let report = DryRunReport(
            tally: run.tally,
            estimate: PushEstimate(run.tally, categories: categories, audience: audience, prices: settings.prices),
            categories: categories, takes: speed.duration(of: run.tally.events, from: start), partitions: partitions,
            samples: run.samples.map { sample in
                EventExplanation(
                    sample.decision, sample.event, lane: settings.engine.lanes[lane].name, isBackfill: true,
                    hiding: settings.policy.users)
            })
        let output = Terminal.standardOutput
        if dryRunOptions.json {
            try output.line(report.json)
        } else {
            try output.write(report.text(hasColours: output.hasColours))
        }
        if !isSound { throw ExitCode.failure }
    }

    /// The number of partitions to assume. It matters because copies of an event are recognised per partition.
    private func partitionCount(_ settings: Settings, _ lane: Int) -> Int32 {
        if let given = dryRunOptions.partitions { return given }
        guard let topic = settings.engine.lanes[lane].topics.first else { return 1 }
        let reason: String
        do {
            let admin = try KafkaAdmin(settings: settings.kafkaSettings, timeout: .seconds(3))
            if let count = try admin.partitionCounts(of: [topic])[topic] {
                let most = DryRun.partitionsAllowed.upperBound
                return Int32(clamping: min(count, Int(most)))
            }
            reason = "the topic does not exist"
        } catch {
            reason = "\(error)"
        }
        let assumed = TopicsCommand.partitionsByDefault
        notice("counted as if \(topic) had \(assumed) partitions (--partitions says how many it will have): \(reason)")
        return Int32(assumed)
    }

    /// - Returns: `false` if the file is empty.
    private func rehearse(_ path: String, _ run: inout DryRun) throws -> Bool {
        let errors = Terminal.standardError
        let file = try EventFile(path: path, format: input.chosenFormat)
        let bar = ProgressBar(errors, at: .now)
        defer { bar.clear() }
        var (bad, isEmpty) = (0, true)
        while let items = try file.next() {
            bar.draw(share: file.share, events: run.tally.events, at: .now)
            for item in items {
                isEmpty = false
                if case .broken(let reason) = item.content {
                    throw EventFile.Failure("\(file.name):\(item.line): \(reason)")
                }
                guard let complaint = run.receive(item) else { continue }
                bad += 1
                guard bad <= FilePublication.complaintsShown else { continue }
                bar.clear()
                errors.plainLine("\(file.name):\(complaint.line): \(complaint.reason)")
            }
        }
        Self.report(FilePublication.Summary(bad: bad), path, isEmpty: false)
        return !isEmpty
    }
}

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
        (self.tally, self.estimate, self.categories, self.takes) = (tally, estimate, categories, takes)
        (self.partitions, self.samples) = (partitions, samples)
    }

    /// The expected duration in seconds, rounded up.
    private var seconds: Int64? { takes.map { ($0.nanoseconds - 1) / 1_000_000_000 + ($0 > .zero ? 1 : 0) } }

    private var counts: [(name: String, events: Int)] {
        categories.map { ($0, tally.count(of: $0)) }.filter { $0.1 > 0 }
    }

    package var json: String {
        JSONLine.object { json in
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
            if tally.followed > 0 { json.field("followed", tally.followed) }
            json.field("skipped", tally.skipped)
            json.field("partitions", Int(partitions))
        }
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
            var table = TextTable(["category", .right("events")], hasColours: hasColours)
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
            (tally.followed, "also go to followers of interests, whose pushes come on top of the cost"),
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
