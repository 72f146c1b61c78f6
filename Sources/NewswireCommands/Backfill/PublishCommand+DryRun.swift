import ArgumentParser
import ByteText
import KafkaIO
import NewsModel
import NewswireSettings
import PublishEngine

extension PublishCommand {
    /// Counts events without publishing them. Needs the broker only for the number of partitions.
    func runDry() throws {
        // A dry run needs neither the hub nor its key.
        let loaded = try ConfigurationOption.load(configurationOption.config, leavingOut: ["hub"])
        guard let settings = loaded.settings else { throw ExitCode.badConfiguration }
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
            isSilent: permission.isSilent && refusal == nil)
        let schedule = try backfill.schedule
        let speed = DryRun.Speed(settings.engine, lane: lane, written: try pace(settings), schedule: schedule)
        let partitions = partitionCount(settings, lane)
        var run = try DryRun(
            settings, lane: lane, selection: try selection(review, settings, start), headers: review.headers,
            speed: speed, partitions: partitions, start: start)
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
            estimate: PushEstimate(
                run.tally, categories: categories, audience: audience, prices: settings.prices),
            categories: categories, takes: speed.duration(of: run.tally.events, from: start), partitions: partitions,
            samples: run.samples)
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
        Terminal.standardError.plainLine(
            "counted as if \(topic) had \(assumed) partitions (--partitions says how many it will have): \(reason)")
        return Int32(assumed)
    }

    /// - Returns: `false` if the file is empty.
    private func rehearse(_ path: String, _ run: inout DryRun) throws -> Bool {
        let errors = Terminal.standardError
        let file = try EventFile(path: path, format: input.chosenFormat)
        var bar = ProgressBar(errors, at: .now)
        defer { bar.clear() }
        var (bad, isEmpty) = (0, true)
        while let items = try file.next() {
            bar.draw(share: file.share, events: run.tally.events, at: .now)
            for item in items {
                isEmpty = false
                if case .broken(let reason) = item.content {
                    throw EventFile.Failure(description: "\(file.name):\(item.line): \(reason)")
                }
                guard let complaint = run.take(item) else { continue }
                bad += 1
                guard bad <= FilePublication.complaintsShown else { continue }
                bar.clear()
                errors.plainLine("\(file.name):\(complaint.line): \(complaint.reason)")
            }
        }
        Self.report(FilePublication.Summary(bad: bad), path, errors, isEmpty: false)
        return !isEmpty
    }
}
