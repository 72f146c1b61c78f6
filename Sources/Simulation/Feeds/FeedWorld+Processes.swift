import ByteText
import Feeds
import NewsModel

// Processes: their starts and ends, their inputs and their actions.

extension FeedWorld {
    func makeProcess(_ number: Int, life: Int) -> Process {
        var settings = IngestSettings()
        settings.feeds = names.compactMap { rules[$0] }
        settings.partitions = scenario.partitions
        settings.writer = "process\(number).\(life)"
        settings.secret = Array(repeating: UInt8(truncatingIfNeeded: number), count: 32)
        return Process(ingester: Ingester(settings), life: life, isAlive: false)
    }

    mutating func start(_ number: Int) throws(FeedViolation) {
        guard !processes[number].isAlive else { return }
        let life = processes[number].life + 1
        processes[number] = makeProcess(number, life: life)
        processes[number].isAlive = true
        for partition in owners.indices where owners[partition] == nil {
            heirs[partition] = heirs[partition] ?? number
            try assign(Int32(partition))
        }
    }

    mutating func crash(_ number: Int) {
        guard processes[number].isAlive else { return }
        report.crashes += 1
        processes[number].isAlive = false
        processes[number].life += 1
        processes[number].reading = [:]
        agenda.add(.start(number), at: now + random.milliseconds(500...60_000))
        for partition in owners.indices where owners[partition] == number {
            owners[partition] = nil
            heirs[partition] = nil
            // The group notices it after the session timeout.
            agenda.add(.assign(Int32(partition)), at: now + .seconds(10))
        }
    }

    // MARK: - Inputs and actions

    mutating func give(_ input: IngestInput, to number: Int, life: Int) throws(FeedViolation) {
        guard processes[number].isAlive, processes[number].life == life else { return }
        var inputs = [input]
        while !inputs.isEmpty {
            guard let altered = interference.alter(inputs.removeFirst(), at: now) else { continue }
            report.inputs += 1
            var actions = processes[number].ingester.handle(altered, at: moment)
            inputs += interference.alter(&actions)
            for action in actions { try carryOut(action, of: number, life: life) }
        }
        let load = processes[number].ingester.load
        if load.feeds > names.count || load.fetches > 40 || load.writes > 2 * load.feeds || load.batches > load.feeds
            || load.heldBack > 100 * load.feeds || load.timers > 500 + 200 * load.feeds
        {
            try broken(.boundedMemory, "process \(number) keeps \(load)")
        }
        if random.chance(percent: scenario.crashes), !isCalm, random.chance(percent: 3) { crash(number) }
    }

    private mutating func carryOut(_ action: IngestAction, of number: Int, life: Int) throws(FeedViolation) {
        switch action {
        case .fetch(let id, let request): try fetch(id, request, by: number, life: life)
        case .cancel(let id):
            agenda.add(
                .answer(number, life: life, id, FetchRequest(url: ""), isCanceled: true), at: now + .milliseconds(5))
        case .store(let id, let partition, let records):
            for record in records { try checkAlert(record) }
            try pause(number, writing: records)
            processes[number].unanswered[id] = partition
            let fails = fails()
            let at = writeTime(of: number)
            let appearing =
                !fails || random.chance(percent: 30) ? records.count : random.number(0...records.count)
            agenda.add(
                .stored(number, life: life, id, partition, records, fails: fails, appearing: appearing), at: at)
        case .publish(let id, let lane, let events):
            if let feed = events.first?.feed, let rules = rules[feed] {
                processes[number].unanswered[id] = rules.partition(among: scenario.partitions)
            }
            let fails = fails()
            let stored = fails ? random.number(0...max(events.count - 1, 0)) : events.count
            agenda.add(
                .published(number, life: life, id, lane: lane, events, stored: stored), at: writeTime(of: number))
        case .wake(let at):
            let wall = Self.start + (at - Instant(nanoseconds: 0))
            agenda.add(.wake(number, life: life), at: max(wall, now))
        case .released(let partitions):
            for partition in partitions {
                guard owners[Int(partition)] == number else { continue }
                processes[number].reading[partition] = nil
                owners[Int(partition)] = nil
                try assign(partition)
            }
        case .finished: processes[number].hasFinished = true
        case .answer, .post, .note: break
        }
    }

    /// Sends a broker's answer to a process. A process that stands still receives it afterwards.
    mutating func tell(_ input: IngestInput, _ number: Int, _ life: Int) {
        agenda.add(.told(number, life: life, input), at: now)
    }

    /// Returns the time of a write: usually after milliseconds, sometimes seconds. Writes of one process stay in order.
    private mutating func writeTime(of number: Int) -> Instant {
        let slow = !isCalm && random.chance(percent: 5)
        let at = max(now + random.milliseconds(slow ? 500...20_000 : 2...50), processes[number].lastWriteAt)
        processes[number].lastWriteAt = at
        return at
    }

    private mutating func fails() -> Bool {
        guard !isCalm, random.chance(percent: scenario.failedWrites) else { return false }
        report.failedWrites += 1
        return true
    }

    // MARK: - Requests

    private mutating func fetch(
        _ id: FetchID, _ request: FetchRequest, by number: Int, life: Int
    ) throws(FeedViolation) {
        guard let name = names.first(where: { rules[$0]?.url == request.url }), let host = publishers[name]?.host else {
            return
        }
        report.polls += 1
        var seen = processes[number].hosts[host] ?? HostRecord()
        if seen.underWay > 0 { try broken(.politeness, "\(host) got a second request while one was under way") }
        if now - seen.lastEnd < .milliseconds(999) {
            try broken(.politeness, "\(host) got a request \(now - seen.lastEnd) after the last")
        }
        if now < seen.awayUntil {
            try broken(.politeness, "\(host) got a request before the time that it had asked for")
        }
        seen.underWay += 1
        processes[number].hosts[host] = seen
        processes[number].fetching[id] = Fetching(host: host, feed: name)
        let slow = !isCalm && random.chance(percent: 10)
        agenda.add(
            .answer(number, life: life, id, request, isCanceled: false),
            at: now + random.milliseconds(slow ? 1_000...20_000 : 20...500))
    }

    mutating func answer(
        _ number: Int, _ life: Int, _ id: FetchID, _ request: FetchRequest, isCanceled: Bool
    ) throws(FeedViolation) {
        guard processes[number].life == life, let fetching = processes[number].fetching.removeValue(forKey: id) else {
            return
        }
        processes[number].hosts[fetching.host]?.underWay -= 1
        processes[number].hosts[fetching.host]?.lastEnd = now
        if isCanceled {
            try give(.fetched(id, .failed(FetchFailure(.canceled, "canceled"))), to: number, life: life)
            return
        }
        guard var publisher = publishers[fetching.feed] else { return }
        let (result, items) = publisher.answer(request, at: now)
        publishers[fetching.feed] = publisher
        if case .answered(let answer) = result, answer.status == 429,
            let asked = answer.header("retry-after").flatMap(Int.init)
        {
            processes[number].hosts[fetching.host]?.awayUntil = now + .seconds(asked)
        }
        if let items {
            report.documents += 1
            // An old item that is withheld when it is first seen is news when it is free.
            let isPrimed = primedAt[fetching.feed] != nil
            for item in items where item.isWithheld && (!isPrimed || shownAt[item.link] == nil) {
                publishers[fetching.feed]?.items[item.number].isBacklog = false
            }
            for item in items { shownAt[item.link] = shownAt[item.link] ?? now }
        }
        try give(.fetched(id, result), to: number, life: life)
    }
}
