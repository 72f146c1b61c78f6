import KafkaModel
import NewsModel
import PublishEngine

/// Topics are deleted, recreated, truncated and widened; results and offsets are lost.
extension SimulatedCluster {
    mutating func recreate(_ fault: Int, _ topic: String, partitions: Int, after gap: Duration) {
        guard truth.counts[topic] != nil else { return }
        let isRunning = processes.contains { $0.engine != nil }
        strike(fault, isRunning ? .recreatedWhileRunning : .recreatedWhileStopped)
        truth.delete(topic)
        announceLater()
        agenda.add(.createTopic(topic, partitions: partitions), at: now + gap)
    }

    mutating func createTopic(_ topic: String, partitions: Int) {
        // Clients of the former topic look for the new leaders for a while.
        let servedFrom = now + random.milliseconds(0...8_000)
        truth.create(topic, partitions: partitions, servedFrom: servedFrom)
        announceLater()
        agenda.add(.serveReaders, at: servedFrom)
        if partitions > truth.counts[setting.results] ?? 0 {
            agenda.add(.growTopic(setting.results, to: partitions), at: now + random.milliseconds(0...10_000))
        }
    }

    mutating func cutBack(_ fault: Int, _ partition: TopicPartition, records: Int) {
        guard let end = truth.cutBack(partition, records: records) else { return }
        strike(fault, .cutBack)
        // The library checks a position against the new leader's log and resets it if it is past the end.
        for process in processes.indices {
            for lane in processes[process].lanes.laneIDs {
                guard let position = processes[process].lanes[lane].positions[partition] else { continue }
                if position.offset > end { processes[process].lanes[lane].positions[partition]?.isOutOfRange = true }
                processes[process].lanes[lane].positions[partition]?.reportedEnd = nil
            }
            wakePoll(process)
        }
    }

    mutating func grow(_ topics: [String], to count: Int, within time: Duration) {
        for (index, topic) in topics.enumerated() {
            agenda.add(.growTopic(topic, to: count), at: now + time * index / max(topics.count - 1, 1))
        }
    }

    mutating func growTopic(_ topic: String, to count: Int) {
        guard truth.grow(topic, to: count) else { return }
        // Records that waited for the partition must be settled too.
        reopen()
        // One command widens both topics.
        if topic == setting.results { _ = truth.grow(Setting.held, to: count) }
        strike(topic == setting.results ? .grownResults : .grownSource)
        announceLater()
    }

    /// Clients see an earlier state of the topics. All clients see the same state.
    private mutating func announceLater() {
        agenda.add(.announceCounts, at: now + random.milliseconds(0...2_000))
    }

    mutating func announceCounts() {
        announcedCounts = truth.counts
        for lane in groups.laneIDs {
            agenda.add(.noticeCounts(lane: lane), at: now + random.milliseconds(100...10_000))
        }
    }

    mutating func dropResults(_ fault: Int, share: Int) {
        for partition in truth.ledger.keys.sorted() {
            guard let log = truth.ledger[partition], log.end > log.start else { continue }
            strike(fault, .retention)
            truth.ledger[partition]?.start = log.start + (log.end - log.start) * Int64(share) / 100
        }
    }

    mutating func dropSource(_ fault: Int, _ topic: String, share: Int) {
        let unread = truth.removeOldest(of: topic, share: share)
        guard !unread.isEmpty else { return }
        strike(fault, .sourceRetention)
        record(.removedUnread(items: unread))
    }

    mutating func forgetOffsets(_ fault: Int, lane: LaneID) {
        for partition in truth.committed[lane].keys.sorted() where partition.topic == setting.results {
            strike(fault, .forgottenOffsets)
            truth.committed[lane][partition] = nil
        }
    }

    // MARK: The held topic

    mutating func truncateHeld(_ fault: Int) {
        strike(fault, .truncatedHeld)
        let (items, unread) = heldItems()
        for partition in truth.held.keys { truth.held[partition]?.truncate() }
        truth.isHeldTruncated = true
        record(.heldTruncated(items: items, unread: unread))
    }

    mutating func deleteHeld(_ fault: Int) {
        strike(fault, .recreatedHeld)
        let (items, unread) = heldItems()
        truth.held = [:]
        truth.heldIncarnation += 1
        let isAttended = processes.contains { $0.engine != nil }
        if !isAttended { strike(.unattendedHeld) }
        record(.heldDeleted(items: items, unread: unread, isAttended: isAttended))
        for process in processes.indices { wakeHeld(process) }
    }

    /// Returns the items on the held topic, and those that some process has not read.
    private func heldItems() -> (all: Set<Int>, unread: Set<Int>) {
        var items: Set<Int> = []
        var unread: Set<Int> = []
        for (partition, log) in truth.held {
            for row in log.rows {
                guard let item = row.item else { continue }
                items.insert(item)
                let isRead = processes.allSatisfy { process in
                    process.engine == nil || process.held?.positions[partition] ?? 0 > row.offset
                }
                if !isRead { unread.insert(item) }
            }
        }
        return (items, unread)
    }
}

extension GroundTruth {
    func publish(_ item: Int, in number: Int32) {
        let news = self.news[item]
        let partition = TopicPartition(topic: news.topic, partition: number)
        guard var log = sources[partition] else { return }
        let offset = log.end + news.gapBefore
        log.items.append((offset, item))
        log.end = offset + 1 + news.gapAfter
        sources[partition] = log
        places[item] = Place(partition: partition, offset: offset, publishedAt: now)
    }

    /// Deletes all partitions of the topic and the groups' offsets for them.
    func delete(_ topic: String) {
        for partition in sources.keys where partition.topic == topic {
            for (_, item) in sources[partition]?.items ?? [] { places[item]?.isGone = true }
            incarnations[partition] = (sources[partition]?.incarnation ?? 0) + 1
            sources[partition] = nil
            for lane in committed.laneIDs { committed[lane][partition] = nil }
        }
        counts[topic] = nil
    }

    func create(_ topic: String, partitions: Int, servedFrom: Instant) {
        let former = incarnations.filter { $0.key.topic == topic }.map(\.value).max() ?? 0
        for number in 0..<Int32(partitions) {
            var log = SourceLog(incarnation: former, startedAt: now)
            log.servedFrom = servedFrom
            sources[TopicPartition(topic: topic, partition: number)] = log
        }
        counts[topic] = partitions
    }

    /// - Returns: the new end; `nil` if the partition was empty.
    func cutBack(_ partition: TopicPartition, records: Int) -> Int64? {
        guard var log = sources[partition], !log.items.isEmpty else { return nil }
        for (offset, item) in log.items.suffix(records) {
            places[item]?.isGone = true
            log.end = min(log.end, offset)
        }
        log.items.removeLast(min(records, log.items.count))
        log.startedAt = now
        log.firstCut = log.firstCut ?? now
        sources[partition] = log
        return log.end
    }

    /// Removes the oldest records of each partition, as retention does.
    ///
    /// - Returns: the removed items that the lane's group has not committed and of whose removal a reader can know: the group has
    ///   committed an offset of their partition.
    func removeOldest(of topic: String, share: Int) -> [Int] {
        guard let lane = scenario.setting.lane(of: topic) else { return [] }
        var unread: [Int] = []
        for partition in sources.keys.sorted() where partition.topic == topic {
            guard var log = sources[partition] else { continue }
            let removed = log.items.prefix(log.items.count * share / 100)
            log.items.removeFirst(removed.count)
            log.start = log.items.first?.offset ?? log.end
            sources[partition] = log
            for (offset, item) in removed {
                places[item]?.isGone = true
                if let committed = committed[lane][partition]?.offset, committed <= offset { unread.append(item) }
            }
        }
        return unread
    }

    /// - Returns: `true` if the topic was widened.
    func grow(_ topic: String, to count: Int) -> Bool {
        guard let before = counts[topic], before < count else { return false }
        counts[topic] = count
        guard scenario.setting.lane(of: topic) != nil else { return true }
        for number in Int32(before)..<Int32(count) {
            sources[TopicPartition(topic: topic, partition: number)] = SourceLog(
                incarnation: sources[TopicPartition(topic: topic, partition: 0)]?.incarnation ?? 0, startedAt: now)
        }
        return true
    }

    /// Hides records below a start offset that was committed for other records before a truncation, perhaps by an owner that had
    /// not noticed it. The reader cannot know this, because the older records are the same.
    func hide(
        _ partition: TopicPartition, below offset: Int64, publishedAfter time: Instant, from reader: Address
    ) {
        for (stands, item) in sources[partition]?.items ?? [] where stands < offset {
            guard let place = places[item], place.publishedAt > time, !isSettled(item) else { continue }
            // The reader finishes the records that it has read.
            if takenBy[item].contains(where: { ownerships[$0].end == nil && ownerships[$0].address == reader }) {
                continue
            }
            places[item]?.hiding = .skipped
        }
    }

    /// Returns true if the partition is committed as far as it must be.
    func isCommitted(_ partition: TopicPartition, to log: SourceLog) -> Bool {
        guard let lane = scenario.setting.lane(of: partition.topic), !log.items.isEmpty,
            Int(partition.partition) < counts[scenario.setting.results] ?? 0
        else { return true }
        // An incarnation that is never noticed is never read.
        if log.items.allSatisfy({ places[$0.item]?.isHidden == true }) { return true }
        return committed[lane][partition]?.offset == log.end
    }
}
