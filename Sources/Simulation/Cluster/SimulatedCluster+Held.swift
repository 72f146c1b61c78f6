import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// The held topic. Engines write events that must wait, and every process follows the whole topic. The owner of the source
/// partition returns the events as `HeldState` decides.
extension SimulatedCluster {
    mutating func openHeld(_ address: Address) {
        guard setting.hasHeld else { return }
        processes[address.process].held = HeldClient()
        wakeHeld(address.process)
    }

    mutating func tellHeldState(_ input: HeldState.Input, _ address: Address) {
        let index = address.process
        guard processes[index].held != nil else { return }
        let moment = processes[index].moment(at: now)
        var actions: [HeldState.Action] = []
        processes[index].held?.state.handle(input, at: moment, into: &actions)
        if let trace, !actions.isEmpty { trace("  held state \(address): \(actions)") }
        for action in actions { carryOut(action, address) }
        noteHeldTotals(address)
        tellWhetherHeldIsKnown(address)
        armHeld(index)
    }

    /// Lets the engine hold events once the topic was read, and no more when the topic is gone.
    private mutating func tellWhetherHeldIsKnown(_ address: Address) {
        guard let client = processes[address.process].held else { return }
        let isKnown = client.hasBegun && (client.isKnown || client.state.isCaughtUp)
        guard isKnown != client.isKnown else { return }
        processes[address.process].held?.isKnown = isKnown
        let least = isKnown ? setting.engine.holdsBeyond : nil
        agenda.add(.input(address, .holdsBeyond(least), items: []), at: toldAt(address))
        if isKnown { agenda.add(.input(address, .held([]), items: []), at: toldAt(address)) }
    }

    /// Returns the time at which the next message of the held state reaches the engine. Messages keep their order.
    private mutating func toldAt(_ address: Address) -> Instant {
        let at = max(processes[address.process].held?.toldUntil ?? now, now + random.milliseconds(0...3))
        processes[address.process].held?.toldUntil = at
        return at
    }

    /// Tells the control state what the held topic contains, and records lost events that the held state reports.
    private mutating func noteHeldTotals(_ address: Address) {
        guard let client = processes[address.process].held else { return }
        let (totals, lost) = (client.state.totals, client.state.vanished.lost)
        processes[address.process].held?.totals = totals
        processes[address.process].held?.lost = lost
        if lost > client.lost { record(.heldLost(lost - client.lost)) }
        if totals != client.totals {
            // The fixed delay keeps the changes in order.
            agenda.add(.answerControlState(address, .held(totals)), at: now + .milliseconds(2))
        }
    }

    private mutating func carryOut(_ action: HeldState.Action, _ address: Address) {
        switch action {
        case .tell(let stories):
            agenda.add(.input(address, .held(stories), items: []), at: toldAt(address))
        case .findEnds(let look):
            agenda.add(.findHeldEnds(address, look: look), at: now + random.milliseconds(1...60))
        case .putBack(let returns):
            // One pass over the topic, in the order of the places.
            var at = now + random.milliseconds(1...50)
            for one in returns {
                at = at + random.milliseconds(0...5)
                agenda.add(.putBack(address, one), at: at)
            }
        case .restore(let restores):
            // Erased events are not expected, so a topic that was never deleted or truncated has no missing ones.
            if truth.heldIncarnation == 0, !truth.isHeldTruncated {
                record(.strange("\(restores.count) held events vanished from their topic"))
            }
            var at = now + random.milliseconds(1...200)
            for one in restores {
                at = at + random.milliseconds(0...5)
                agenda.add(.restoreHeld(address, one), at: at)
            }
        case .erase(let erasures):
            for erasure in erasures {
                let tombstone = HeldRecord.tombstone(
                    story: erasure.story, upTo: erasure.place.offset, original: erasure.original, topic: Setting.held,
                    partition: erasure.place.partition)
                writeHeld(tombstone, item: nil, erasure.place, address)
            }
        case .eraseVanished(let events):
            for event in events {
                writeHeld(HeldRecord.tombstone(event, topic: Setting.held), item: nil, nil, address)
            }
        case .writeAgain(let places):
            for place in places {
                guard let row = truth.held[place.partition]?.row(at: place.offset),
                    isExpected(row.record, at: place, by: address)
                else {
                    answerHeld(.gone(place), address)
                    continue
                }
                let again = HeldRecord.again(row.record, topic: Setting.held, partition: place.partition)
                strike(.writtenAgain)
                writeHeld(again, item: row.item, place, address)
            }
        }
    }

    private mutating func answerHeld(_ ending: HeldState.Ending, _ address: Address) {
        agenda.add(.tellHeld(address, .ended([ending])), at: now + random.milliseconds(0...8))
    }

    /// Sends the brokers' answer about the ends of the partitions.
    mutating func findHeldEnds(_ look: Int, for address: Address) {
        var ends: [Int32: Int64] = [:]
        var unreported: [Int32] = []
        for partition in 0..<Int32(truth.counts[Setting.held] ?? 0) {
            if let fault = unavailability(of: TopicPartition(topic: Setting.held, partition: partition)) {
                strike(fault, .unavailableHeld)
                unreported.append(partition)
            } else {
                ends[partition] = truth.held[partition]?.end ?? 0
            }
        }
        agenda.add(
            .tellHeld(address, .ends(look: look, ends, unreported: unreported)), at: now + random.milliseconds(0...30))
    }

    private mutating func armHeld(_ index: Int) {
        guard let client = processes[index].held, let wakeAt = client.state.wakeAt, wakeAt < .distantFuture else {
            return
        }
        let at = max(wakeAt - processes[index].steadyOffset, now + .milliseconds(1))
        if let armed = client.alarm, armed.at <= at { return }
        let serial = client.alarms + 1
        processes[index].held?.alarms = serial
        processes[index].held?.alarm = (at, serial)
        agenda.add(.alarmHeld(Address(process: index, run: processes[index].run), serial: serial), at: at)
    }

    mutating func ringHeld(_ address: Address, _ serial: Int) {
        guard processes[address.process].held?.alarm?.serial == serial else { return }
        processes[address.process].held?.alarm = nil
        tellHeldState(.alarm, address)
    }

    /// Reports the lane's partitions that the engine owns.
    mutating func noteOwned(_ lane: LaneID, _ address: Address) {
        guard processes[address.process].held != nil else { return }
        let owned = processes[address.process].ownerships.map { truth.ownerships[$0] }
            .filter { $0.lane == lane && $0.end == nil && $0.revokedAt == nil }.map(\.partition)
        // The fixed delay keeps the changes in order.
        agenda.add(.tellHeld(address, .owned(lane, ShardID(0), owned)), at: now + .milliseconds(2))
    }

    /// Reports the partition counts if they have changed, as the shard does.
    mutating func noteCounts(_ counts: [String: Int], _ address: Address) {
        guard let known = processes[address.process].held?.counts, known != counts else { return }
        processes[address.process].held?.counts = counts
        agenda.add(.tellHeld(address, .counts(counts)), at: now + .milliseconds(2))
    }

    /// Reports how many returns the engine has settled. A shard reports it ten times a second.
    mutating func noteSettled(_ address: Address) {
        guard let engine = processes[address.process].engine, let client = processes[address.process].held,
            client.settled != engine.returnsSettled || client.perSecond != engine.requestsPerSecond
        else { return }
        processes[address.process].held?.settled = engine.returnsSettled
        processes[address.process].held?.perSecond = engine.requestsPerSecond
        let settled = HeldState.Input.settled(
            ShardID(0), engine.returnsSettled, perSecond: engine.requestsPerSecond)
        agenda.add(.tellHeld(address, settled), at: now + .milliseconds(100))
    }

    // MARK: Reading

    mutating func wakeHeld(_ index: Int) {
        guard processes[index].engine != nil, processes[index].held?.isReading == false else { return }
        processes[index].held?.isReading = true
        let address = Address(process: index, run: processes[index].run)
        agenda.add(.readHeld(address), at: now + random.milliseconds(1...30))
    }

    /// One turn of the thread that follows the held topic.
    mutating func readHeld(_ address: Address) {
        guard var client = processes[address.process].held else { return }
        client.isReading = false
        guard !client.state.awaitsFormer else {
            client.isReading = true
            processes[address.process].held = client
            agenda.add(.readHeld(address), at: now + random.milliseconds(50...150))
            return
        }
        if isHeldDeleted {
            // The reader polls for the topic.
            client.isReading = true
            let isFirst = !client.isLost
            (client.isLost, client.hasBegun, client.positions) = (true, false, [:])
            processes[address.process].held = client
            agenda.add(.readHeld(address), at: now + random.milliseconds(200...1_000))
            if isFirst { tellHeldState(.lost, address) }
            return
        }
        if client.isLost || client.incarnation != truth.heldIncarnation {
            (client.isLost, client.hasBegun, client.positions) = (false, false, [:])
            client.incarnation = truth.heldIncarnation
        }
        let partitions = (0..<Int32(truth.counts[Setting.held] ?? 0))
        if !client.hasBegun {
            client.hasBegun = true
            processes[address.process].held = client
            tellHeldState(.began, address)
        }
        var hasMore = false
        for partition in partitions {
            if let fault = unavailability(of: TopicPartition(topic: Setting.held, partition: partition)) {
                strike(fault, .unavailableHeld)
                hasMore = true
                continue
            }
            let log = truth.held[partition] ?? HeldLog()
            let rows = log.rows(from: client.positions[partition] ?? 0).prefix(random.number(1...8))
            let position = rows.last.map { $0.offset + 1 } ?? log.end
            client.positions[partition] = position
            if position < log.end { hasMore = true }
            processes[address.process].held?.positions = client.positions
            if !rows.isEmpty {
                tellHeldState(
                    .read(partition: partition, rows.map { ($0.offset, $0.record.timestamp, $0.reading) }), address)
            }
            if position == log.end { tellHeldState(.endReached(partition: partition, offset: position), address) }
        }
        processes[address.process].held?.isReading = hasMore
        if hasMore { agenda.add(.readHeld(address), at: now + random.milliseconds(1...60)) }
    }

    mutating func compactHeld(_ fault: Int) {
        for partition in truth.held.keys.sorted()
        where truth.held[partition]?.compact(olderThan: now - Setting.heldCompactionLag) == true {
            strike(fault, .compactedHeld)
        }
    }

    private var isHeldDeleted: Bool { activeFaults.contains { scenario.faults[$0].kind == .recreatedHeld } }

    /// Writes a vanished original to its source partition again.
    mutating func restoreHeld(_ one: HeldState.Restore, from address: Address) {
        guard let isAlive = mayWrite(address) else { return }
        let ending = restoreHeld(one, at: processes[address.process].moment(at: now).wall, address)
        if isAlive { agenda.add(.tellHeld(address, .restored([ending])), at: now + random.milliseconds(0...8)) }
    }

    private mutating func restoreHeld(
        _ one: HeldState.Restore, at wall: Instant, _ address: Address
    ) -> HeldState.RestoreEnding {
        guard let log = truth.sources[one.partition], exists(one.partition), unavailability(of: one.partition) == nil
        else { return .failed(one.id) }
        let index = log.index(from: one.original.offset)
        guard index < log.items.count else { return .gone(one.id) }
        let (offset, item) = log.items[index]
        var original = truth.news[item].record
        original.offset = offset
        guard one.original.isThe(original) else { return .gone(one.id) }
        let restored = HeldRecord.restored(original, to: one.partition, at: wall)
        let copy = truth.add(truth.copied(item, restored, as: .restored, writtenAt: wall))
        truth.publish(copy, in: one.partition.partition)
        reopen()
        strike(.restoredHeld)
        record(.restoredHeld(item: copy, of: item, address))
        for process in processes.indices { wakePoll(process) }
        return .restored(one.id)
    }

    /// True if every process has read the whole topic and no event waits on it.
    var isNothingHeld: Bool {
        guard setting.hasHeld else { return true }
        return processes.allSatisfy { process in
            guard process.engine != nil, let client = process.held, client.hasBegun else { return false }
            // Only the owner of the source partition finds that the record of a due event was removed.
            let left = truth.isHeldTruncated ? client.state.ours : client.state.count
            return left == 0 && !client.state.isRestoring
                && truth.held.allSatisfy { client.positions[$0.key] ?? 0 == $0.value.end }
        }
    }

    // MARK: Writing

    /// Appends an original to the held topic.
    mutating func appendHeld(_ record: ProducedRecord, in partition: Int32, item: Int?) -> Int64 {
        let row = truth.held[partition, default: HeldLog()].append(record, item: item, at: now)
        if let item { self.record(.standsHeld(item: item, partition: partition)) }
        for process in processes.indices { wakeHeld(process) }
        return row.offset
    }

    private mutating func writeHeld(_ record: ProducedRecord, item: Int?, _ place: HeldPlace?, _ address: Address) {
        let soonest = now + random.milliseconds(1...12) + heldDelay()
        let at = max(processes[address.process].held?.writtenUntil ?? now, soonest)
        processes[address.process].held?.writtenUntil = at
        agenda.add(.writeHeld(address, record, item: item, place), at: at)
    }

    private mutating func heldDelay() -> Duration {
        var sum = Duration.zero
        for fault in activeFaults {
            guard case .slowHeld(let more) = scenario.faults[fault].kind else { continue }
            strike(fault, .slowHeld)
            sum += more
        }
        return sum
    }

    /// Writes a tombstone or rewrites a record at the broker, which the write may reach although its process has died.
    ///
    /// - Parameters:
    ///   - item: the news in the record; `nil` for a tombstone. The topic may be recreated before the write, so the place does not tell.
    ///   - place: the place named in the answer; `nil` without an answer.
    mutating func writeHeld(_ record: ProducedRecord, item: Int?, _ place: HeldPlace?, from address: Address) {
        guard let partition = record.partition, let isAlive = mayWrite(address) else { return }
        let isAway = unavailability(of: TopicPartition(topic: Setting.held, partition: partition)) != nil
        if !isAway { _ = appendHeld(record, in: partition, item: item) }
        if isAlive, let place { answerHeld(isAway ? .failed(place) : .written(place), address) }
    }

    /// Returns an original to its lane's topic, normally to its source partition.
    mutating func putBack(_ one: HeldState.Return, from address: Address) {
        guard let isAlive = mayWrite(address) else { return }
        let ending = putBack(one, at: processes[address.process].moment(at: now).wall, address)
        if isAlive { answerHeld(ending, address) }
    }

    private mutating func putBack(_ one: HeldState.Return, at wall: Instant, _ address: Address) -> HeldState.Ending {
        guard let row = truth.held[one.place.partition]?.row(at: one.place.offset), let item = row.item,
            case .held(let event, _) = row.reading, isExpected(row.record, at: one.place, by: address),
            let original = HeldRecord.original(row.record, because: one.reason, to: one.target)
        else { return .gone(one.place) }
        let target = TopicPartition(
            topic: original.topic, partition: original.partition ?? event.source.partition.partition)
        guard truth.sources[target] != nil, exists(target), unavailability(of: target) == nil,
            unavailability(of: TopicPartition(topic: Setting.held, partition: one.place.partition)) == nil
        else {
            strike(.failedReturn)
            return .failed(one.place)
        }
        let copy = truth.add(truth.copied(item, original, as: .returned(one.reason), writtenAt: wall))
        truth.publish(copy, in: target.partition)
        reopen()
        switch one.reason {
        case .due: strike(.returnedDue)
        case .recalled: strike(.returnedRecalled)
        case .superseded: strike(.returnedSuperseded)
        }
        record(.returned(item: copy, of: item, event, one.reason, address, wall: wall))
        for process in processes.indices { wakePoll(process) }
        return .putBack(one.place, story: event.story)
    }

    /// A process that died had read the record before.
    private func isExpected(_ record: SourceRecord, at place: HeldPlace, by address: Address) -> Bool {
        let process = processes[address.process]
        return process.run != address.run || process.held?.state.isExpected(record, at: place) ?? true
    }

    /// - Returns: true if the process lives; `nil` if its writes no longer reach the broker.
    private func mayWrite(_ address: Address) -> Bool? {
        let isAlive = processes[address.process].run == address.run && processes[address.process].engine != nil
        return isAlive || now <= writesInTransit[address] ?? .distantPast ? isAlive : nil
    }
}

extension GroundTruth {
    /// Makes a separate item of a returned or restored record. Its headline has another marker, to distinguish requests for it
    /// from those for the original.
    func copied(
        _ item: Int, _ produced: ProducedRecord, as kind: NewsItem.Copy, writtenAt: Instant
    ) -> NewsItem {
        let original = news[item]
        let root = original.serial % Self.returnSerials
        returns[root, default: 0] += 1
        let serial = root + Self.returnSerials * (returns[root] ?? 1)
        let value = produced.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
        var copy = NewsItem(
            serial: serial, at: now - Scenario.start, lane: original.lane, topic: produced.topic,
            keyHash: original.keyHash, gapBefore: 0, gapAfter: 0, kind: original.kind, copy: kind,
            platforms: produced.headers.last { $0.name == HeaderName.platform }?.text.map(Platform.list),
            eventID: original.eventID, categories: original.categories, interests: original.interests,
            users: original.users, feed: original.feed, run: original.run,
            story: original.story, version: original.version, embargoUntil: original.embargoUntil,
            expiresAt: original.expiresAt,
            record: SourceRecord(
                offset: 0, timestamp: writtenAt.asTimestamp, key: produced.key,
                value: Array(value.replacing(Marker.text(original.serial), with: Marker.text(serial)).utf8)))
        copy.record.headers = produced.headers
        return copy
    }

    /// Copies have serials above this. The remainder of the division by this is the serial of the original.
    static let returnSerials = 1_000_000
}
