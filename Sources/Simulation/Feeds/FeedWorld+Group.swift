import ByteText
import Feeds
import NewsModel

// The state topic's group: the owners of the partitions, and the records that they read.

extension FeedWorld {
    mutating func assign(_ partition: Int32) throws(FeedViolation) {
        guard owners[Int(partition)] == nil else { return }
        let alive = processes.indices.filter { processes[$0].isAlive && !processes[$0].hasFinished }
        guard !alive.isEmpty else { return }
        let heir = heirs[Int(partition)].flatMap { alive.contains($0) ? $0 : nil } ?? random.pick(alive, or: 0)
        heirs[Int(partition)] = nil
        // A process that has not noticed its loss cannot be assigned the partition again.
        if processes[heir].reading[partition] != nil {
            guard let other = alive.first(where: { processes[$0].reading[partition] == nil }) else {
                agenda.add(.assign(partition), at: now + .seconds(5))
                return
            }
            return try hand(partition, to: other)
        }
        try hand(partition, to: heir)
    }

    private mutating func hand(_ partition: Int32, to number: Int) throws(FeedViolation) {
        owners[Int(partition)] = number
        processes[number].reading[partition] = Reading(end: topic.end(partition))
        // It waits no longer for writes that it began before it lost the partition.
        processes[number].unanswered = processes[number].unanswered.filter { $0.value != partition }
        let life = processes[number].life
        try give(.assigned([partition]), to: number, life: life)
        agenda.add(.deliver(number, life: life, partition), at: now + random.milliseconds(5...500))
    }

    mutating func append(
        _ records: [StateRecord], to partition: Int32, isLate: Bool
    ) throws(FeedViolation) {
        for record in records {
            topic.append(record, to: partition, at: now)
            try checkBound(record, isLate: isLate)
            if record.key.hasPrefix("feed/"), let value = record.value {
                let name = String(record.key.dropFirst(5))
                if primedAt[name] == nil, endsFirstReading(value, of: name) { primedAt[name] = now }
            }
        }
        for number in processes.indices where processes[number].reading[partition] != nil {
            let slow = !isCalm && random.chance(percent: 5)
            agenda.add(
                .deliver(number, life: processes[number].life, partition),
                at: now + random.milliseconds(slow ? 100...5_000 : 1...30))
        }
    }

    /// Returns true if a feed's record says that its first reading has ended. Without dates, a first reading that was
    /// stored in part ends with the next document. Until then, nothing distinguishes new entries from the backlog,
    /// which must never be sent.
    private func endsFirstReading(_ value: [UInt8], of name: String) -> Bool {
        let text = String(decoding: value, as: UTF8.self)
        guard text.contains("\"primedAt\"") else { return false }
        return publishers[name]?.isUndated == false || !text.contains("\"halfPrimed\"")
    }

    mutating func deliver(_ partition: Int32, to number: Int, life: Int) throws(FeedViolation) {
        guard processes[number].isAlive, processes[number].life == life else { return }
        while let reading = processes[number].reading[partition], reading.revokedAt == nil {
            if !reading.isRestored, reading.position >= reading.end {
                processes[number].reading[partition]?.isRestored = true
                try give(.restored(partition: partition), to: number, life: life)
                continue
            }
            let records = topic.partitions[Int(partition)]
            guard reading.position < records.count, processes[number].life == life else { return }
            processes[number].reading[partition]?.position += 1
            let record = records[reading.position]
            if record.isCompacted { continue }
            let input = IngestInput.record(
                partition: partition, offset: Int64(reading.position), key: record.key, value: record.value)
            try give(input, to: number, life: life)
        }
    }

    // MARK: - Faults

    mutating func makeFault() throws(FeedViolation) {
        guard !isCalm else { return }
        agenda.add(.fault, at: now + random.milliseconds(5_000...60_000))
        if random.chance(percent: scenario.crashes), let number = processes.indices.randomElement(using: &random) {
            crash(number)
        }
        if random.chance(percent: scenario.rebalances) { try rebalance() }
        if random.chance(percent: scenario.lostSessions) { try loseSession() }
    }

    /// Moves a partition in order: its owner is asked and releases it before another process gets it.
    private mutating func rebalance() throws(FeedViolation) {
        report.rebalances += 1
        let alive = processes.indices.filter { processes[$0].isAlive }
        guard let partition = owners.indices.randomElement(using: &random), let owner = owners[partition],
            heirs[partition] == nil
        else { return }
        heirs[partition] = random.pick(alive, or: owner)
        let life = processes[owner].life
        agenda.add(.deadline(owner, life: life, Int32(partition)), at: now + .seconds(5))
        processes[owner].reading[Int32(partition)]?.revokedAt = now
        try give(.revoked([Int32(partition)]), to: owner, life: life)
    }

    /// A process stalls. The group reassigns its partitions, and the process notices it later.
    private mutating func loseSession() throws(FeedViolation) {
        guard let number = processes.indices.filter({ processes[$0].isAlive }).randomElement(using: &random) else {
            return
        }
        try loseSession(of: number)
    }

    private mutating func loseSession(of number: Int) throws(FeedViolation) {
        report.lostSessions += 1
        let pausedUntil = max(processes[number].pausedUntil, now)
        for partition in owners.indices where owners[partition] == number && heirs[partition] == nil {
            owners[partition] = nil
            agenda.add(
                .sessionEnds(number, life: processes[number].life, Int32(partition)),
                at: pausedUntil + random.milliseconds(500...45_000))
            try assign(Int32(partition))
        }
    }

    /// The worst moment: a process stands still with intents in flight. Another one takes over and is restored before they
    /// arrive. The stories are edited meanwhile, and the first process continues with its old state.
    mutating func pause(_ number: Int, writing records: [StateRecord]) throws(FeedViolation) {
        guard !isCalm, random.chance(percent: scenario.lostSessions * 5) else { return }
        let stories = records.compactMap(intended)
        guard let (name, item) = stories.randomElement(using: &random) else { return }
        let pause = random.number(5_000...180_000)
        processes[number].pausedUntil = now + .milliseconds(pause)
        processes[number].lastWriteAt = now + random.milliseconds(0...(pause + 20_000))
        agenda.add(.edit(name, item.number), at: now + random.milliseconds(0...pause))
        try loseSession(of: number)
    }

    mutating func becomeCalm() throws(FeedViolation) {
        isCalm = true
        for status in processes.filter(\.isAlive).flatMap({ $0.ingester.status(at: moment) }) {
            // After many failures, a feed is not polled for up to a day, which exceeds the calm period.
            if let next = status.nextPollAt, next - now > .seconds(3 * 3_600) { leftAlone.insert(status.name) }
        }
        for name in names {
            publishers[name]?.manners = FeedPublisher.Manners()
            for round in 0..<6 {
                agenda.add(
                    .calmNews(name, round), at: now + .seconds(600 + round * 2_000) + random.milliseconds(0...1_500_000)
                )
            }
        }
        for number in processes.indices where !processes[number].isAlive { try start(number) }
    }
}
