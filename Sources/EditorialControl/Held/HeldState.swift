import KafkaModel
public import NewsModel

/// The state of the held topic as one process sees it. A plain value without IO. Its inputs are records, owned partitions and the
/// time; its output is the events that are due.
///
/// Every process reads the whole topic. Only the owner of a source partition returns an event to its lane, then deletes it with a
/// tombstone. A new owner first reads to the end offsets at takeover, so that it sees which events its predecessor returned. A crash
/// between return and tombstone returns an event twice. Engines report the second copy as a duplicate. An event takes 60 bytes.
public struct HeldState: Sendable {
    /// Time of the next `alarm`, by the monotonic clock. An early alarm is harmless.
    public private(set) var wakeAt: Instant?

    var index = HeldIndex()
    private(set) var sources = HeldSources()
    private(set) var clock: WallClock
    /// Hashes of the stories under recall.
    private var recalled: Set<UInt64> = []
    private var recallRequests = RecallRequests()
    /// Progress of reading the held topic. Before its end, a later record may change what is held.
    var reach = HeldReach()
    /// The last offset read in each partition.
    private var positions: [Int32: Int64] = [:]
    /// Places and stories of entries that precede a tombstone or an older version. Compaction would drop them.
    private var endangered: [HeldPlace: UInt64] = [:]
    private var hasNewDangers = false
    /// Events that lost their place on the topic, and return to their lanes: older versions, to be reported as superseded, and events
    /// that have no order with the one that took the place. Those wait on their lanes. They stay here until they have
    /// returned, also while the topic is away.
    var displaced: [HeldPlace: HeldIndex.Entry] = [:]
    var underWay: [HeldPlace: HeldStep] = [:]
    private var passes = HeldPasses()
    private var pace = HeldPace()
    var vanishedEvents = VanishedEvents()
    var former = FormerHeldTopic()
    /// Number of invalid records.
    public private(set) var unreadable = 0

    /// - Parameter asksHub: nothing that is due returns before `Input.hubTime`.
    public init(asksHub: Bool = false) { clock = WallClock(asksHub: asksHub) }

    /// Number of held events of all processes.
    public var count: Int { index.count }
    /// Time at which our next event is due, by the wall clock; the distant past if it was requested back.
    public var nextDue: Instant? { index.first?.release }
    /// Time since which writes to a lane's partition fail, by the monotonic clock.
    public private(set) var failingSince: Instant?
    /// Time since which records that a return depends on are unread, by the monotonic clock.
    public var behindSince: Instant? { reach.behindSince }
    /// True if the topic was read to the end that it had when the reading began, or when partitions were taken over.
    public var isCaughtUp: Bool { reach.isCaughtUp }
    /// Partitions of the held topic that must be read first.
    public var behind: [Int32] { reach.behind }
    /// Number of events that wait in this process for their time or for another condition of their return.
    public var ours: Int { index.queued }

    /// Handles one input and appends the resulting actions.
    public mutating func handle(_ input: Input, at moment: Moment, into actions: inout [Action]) {
        _ = clock.look(moment)
        let now = moment.steady
        if sources.unblock(at: now) { requeue() }
        switch input {
        case .began:
            forget()
            reach.begin(at: now)
        case .lost:
            forget()
            reach.lose()
        case .formerly(let totals): former.know(totals)
        case .read(let partition, let records): read(records, partition, now, &actions)
        case .endReached(let partition, let offset): if reach.read(partition, to: offset, at: now) { requeue() }
        case .ends(let look, let ends, let unreported):
            if reach.answer(ends, unreported: unreported, to: look) { requeue() }
        case .owned(let lane, let shard, let partitions):
            failingSince = nil
            if !partitions.isEmpty { reach.refresh(at: now) }
            if sources.own(partitions, lane, shard, look: reach.look) { requeue() }
        case .counts(let counts):
            if sources.know(counts, look: reach.look + 1) {
                reach.refresh(at: now)
                requeue()
            }
        case .orders(let changes): for change in changes { obey(change) }
        case .bringBack(let story, let reason, let part): grant(HeldIndex.hash(story), reason, part, now)
        case .settled(let shard, let count, let perSecond):
            pace.settled(count, by: shard, perSecond: perSecond, at: now)
        case .restored(let endings): for ending in endings { vanishedEvents.ended(ending, at: now) }
        case .ended(let endings): for ending in endings { end(ending, now, &actions) }
        case .hubTime(let hub): clock.hear(hub: hub)
        case .alarm: break
        }
        passes.wake(at: now)
        expectDisplaced(at: now)
        if let look = reach.ask(at: now) { actions.append(.findEnds(look: look)) }
        if passes.mayBegin { beginPass(moment, &actions) }
        writeAgain(&actions)
        restoreVanished(now, &actions)
        wakeAt = nextAlarm
    }

    private var nextAlarm: Instant? {
        var earliest = min(
            sources.blockedUntil ?? .distantFuture, reach.wakeAt ?? .distantFuture, former.countsUntil ?? .distantFuture
        )
        if reach.isCaughtUp { earliest = min(earliest, vanishedEvents.wakeAt ?? .distantFuture) }
        if let until = passes.restsUntil {
            earliest = min(earliest, until)
        } else if passes.mayBegin {
            // Otherwise, the endings of the pass or settled events wake us.
            for lane in index.lanes {
                guard let first = index.first(in: lane) else { continue }
                let fullUntil = pace.fullUntil(for: lane) ?? .distantPast
                earliest = min(earliest, max(clock.steady(ofRelease: first.release), fullUntil))
            }
        }
        return earliest == .distantFuture ? nil : earliest
    }

    // MARK: Reading

    private mutating func forget() {
        vanishedEvents.expect(index)
        index = HeldIndex()
        positions = [:]
        former.forgetLast()
        (endangered, underWay) = ([:], [:])
        passes = HeldPasses()
        failingSince = nil
    }

    private mutating func read(
        _ records: [(offset: Int64, at: Instant?, reading: HeldRecord.Reading)], _ partition: Int32, _ now: Instant,
        _ actions: inout [Action]
    ) {
        var told: [HeldStory] = []
        for (offset, time, reading) in records {
            let place = HeldPlace(partition, offset)
            if let last = positions.updateValue(offset, forKey: partition), offset <= last {
                restarted(partition, now)
            }
            former.note(reading, time, place, known: vanishedEvents, at: now)
            guard HeldIndex.Entry.hasRoom(for: place) else { continue }
            switch reading {
            case .unreadable: unreadable += 1
            case .held(let event, let since):
                // A record that was written again may arrive when its topic was recreated and has lower offsets.
                hold(event, place, since: since.map { min($0, offset) }, now, &told)
            case .erased(let story, let upTo, let original):
                erase(story, upTo: upTo ?? offset - 1, original, place, &told)
            case .vanished(let story, let former, let original):
                endVanished(Vanished(story: story, place: HeldPlace(partition, former), original: original))
            }
        }
        if !told.isEmpty { actions.append(.tell(told)) }
        if let last = records.last, reach.read(partition, to: last.offset + 1, at: now) { requeue() }
    }

    /// Handles a partition whose topic was deleted and recreated.
    private mutating func restarted(_ partition: Int32, _ now: Instant) {
        vanishedEvents.expect(index, in: partition)
        index.removeAll(in: partition)
        reach.restart(partition, at: now)
        former.forgetLast(in: partition)
        endangered = endangered.filter { $0.key.partition != partition }
    }

    private mutating func hold(
        _ event: HeldEvent, _ place: HeldPlace, since: Int64?, _ now: Instant, _ told: inout [HeldStory]
    ) {
        let story = HeldIndex.hash(event.story)
        vanishedEvents.found(story, in: place.partition)
        guard let source = sources.number(of: event.source.partition) else {
            unreadable += 1
            return
        }
        var entry = HeldIndex.Entry(
            story: story, place: place, release: event.due, version: .init(event.version),
            source: source, original: HeldOriginal(of: event))
        if let former = displaced[place], former.story != story || !former.original.mayBe(entry.original) {
            // The topic was recreated, so the displaced event is not there any more.
            displaced[place] = nil
            notFound(former, now)
        }
        if recallRequests.remove(entry, at: now) { entry.reason = .superseded }
        if recalled.contains(story) { entry.reason = .recalled }
        if let slot = index.find(story, place.partition) {
            // What was requested back stays so when it is written again.
            if entry.reason == .due, since == index.since(slot) { entry.reason = index[slot].reason }
            guard index.isNewer(entry, since: since, than: slot) else {
                // The newest version has an earlier offset, so the next compaction would drop it.
                endanger(slot)
                if index.version(slot).isNewer(than: entry.version) == true { displace(entry, .superseded) }
                return
            }
            endangered[index[slot].place] = nil
            let isOther = entry.original != nil && !entry.original.mayBe(index[slot].original)
            let isSuperseded = entry.isLater(than: index[slot]) || event.replacesFormer && isOther
            if isSuperseded || isOther && !index[slot].hasOrder(with: entry) {
                displace(index[slot], isSuperseded ? .superseded : index[slot].reason)
            }
            index.replace(slot, by: entry, since: since)
            queue(slot)
        } else {
            queue(index.insert(entry, since: since))
        }
        told.append(HeldStory(event))
    }

    private mutating func erase(
        _ text: String, upTo: Int64, _ original: HeldOriginal?, _ place: HeldPlace, _ told: inout [HeldStory]
    ) {
        let story = HeldIndex.hash(text)
        vanishedEvents.found(story, in: place.partition, erasing: original)
        guard let slot = index.find(story, place.partition) else { return }
        guard index.since(slot) <= upTo, index[slot].original.mayBe(original) else {
            endanger(slot)
            return
        }
        endangered[index[slot].place] = nil
        index.remove(slot)
        if index.slots(of: story).isEmpty { told.append(HeldStory(story: text, isHeld: false)) }
    }

    /// Queues a former entry of ours for its return, unless only its tombstone is missing. Those before the end were queued earlier.
    /// One that is being written again, or that may fail to return, does so after that.
    private mutating func displace(_ former: HeldIndex.Entry, _ reason: ReturnReason) {
        guard reach.isComplete(former.place.partition), sources.isOurs(former.source), former.state != .returned
        else { return }
        displaced[former.place] = former
        displaced[former.place]?.reason = reason
    }

    private mutating func endanger(_ slot: HeldIndex.Slot) {
        endangered[index[slot].place] = index[slot].story
        hasNewDangers = true
    }

    /// Adds the entry to the queue of waiting events or removes it.
    private mutating func queue(_ slot: HeldIndex.Slot) {
        let entry = index[slot]
        let waits = entry.state == .waiting && mayReturn(entry)
        if waits, !sources.isBlocked(entry.source) {
            index.enqueue(slot, in: sources.lane(of: entry.source))
        } else {
            index.dequeue(slot)
        }
    }

    private func mayReturn(_ entry: HeldIndex.Entry) -> Bool {
        let partition = entry.place.partition
        if sources.isOurs(entry.source) { return reach.hasReached(sources.look(of: entry.source), in: partition) }
        // The engine that has sent a newer version may belong to a process that does not own the partition.
        return entry.reason == .superseded && reach.isComplete(partition)
    }

    private mutating func requeue() {
        for slot in index.slots { queue(slot) }
        vanishedEvents.look()
        hasNewDangers = true
    }

    private mutating func obey(_ change: OrderChange) {
        guard case .recall(let text) = change.scope else { return }
        let story = HeldIndex.hash(text)
        switch change {
        case .stands:
            recalled.insert(story)
            bringBack(story, .recalled)
        case .lifted:
            recalled.remove(story)
            for slot in index.slots(of: story) where index[slot].reason == .recalled {
                index.change(slot) { $0.reason = .due }
                queue(slot)
            }
        }
    }

    /// Grants a recall request. The engine may have written the event a moment ago, so that it was not read yet.
    private mutating func grant(_ story: UInt64, _ reason: ReturnReason, _ part: HeldPart, _ now: Instant) {
        bringBack(story, reason, part)
        guard reason == .superseded, index.slots(of: story).isEmpty else { return }
        recallRequests.add(story, part, at: now)
    }

    private mutating func bringBack(_ story: UInt64, _ reason: ReturnReason, _ part: HeldPart = .all) {
        for slot in index.slots(of: story)
        where [.waiting, .rewriting].contains(index[slot].state) && part.contains(index[slot]) {
            index.change(slot) { $0.reason = reason }
            queue(slot)
        }
    }

    // MARK: Returning

    private mutating func beginPass(_ moment: Moment, _ actions: inout [Action]) {
        let clock = clock.releaseClock(moment)
        let now = moment.steady
        // The ends of two steps at one place could not be told apart.
        let ready = displaced.filter {
            underWay[$0.key] == nil && reach.isComplete($0.key.partition) && !sources.isBlocked($0.value.source)
        }
        var returns = ready.values.map { Return($0.place, $0.reason, to: sources.otherTarget(of: $0.source)) }
        for (place, entry) in ready {
            underWay[place] = HeldStep(story: entry.story, kind: .putBack)
            guard let slot = index.find(entry.story, place.partition), index[slot].place == place else { continue }
            // Compaction may have removed the event that took its place before the topic was read again.
            index.change(slot) { $0.state = .returning }
        }
        var isCut = false
        for lane in index.lanes {
            let room = pace.room(for: lane, at: now)
            var paced = 0
            while let first = index.first(in: lane), first.release <= clock {
                // Events requested back are not sent, so they take no room.
                let isPaced = index[first.slot].reason == .due
                guard returns.count < HeldPasses.countMax, !isPaced || paced < room else {
                    isCut = true
                    break
                }
                if isPaced { paced += 1 }
                index.change(first.slot) { $0.state = .returning }
                let entry = index[first.slot]
                underWay[entry.place] = HeldStep(story: entry.story, kind: .putBack, pacedTo: isPaced ? lane : nil)
                returns.append(Return(entry.place, entry.reason, to: sources.otherTarget(of: entry.source)))
            }
            pace.returned(paced, to: lane, at: now)
        }
        guard !returns.isEmpty else { return }
        passes.begin(returns.count, rests: !isCut, at: now)
        actions.append(.putBack(returns.sorted { $0.place < $1.place }))
    }

    private mutating func end(_ ending: Ending, _ now: Instant, _ actions: inout [Action]) {
        let place = ending.place
        guard let step = underWay.removeValue(forKey: place) else { return }
        if step.kind == .putBack { passes.end(at: now) }
        if let lane = step.pacedTo {
            switch ending {
            case .putBack: break
            case .written, .gone, .failed: pace.tookBack(from: lane)
            }
        }
        switch ending {
        case .putBack: (displaced[place], failingSince) = (nil, nil)
        case .written: failingSince = nil
        case .gone: if let entry = displaced.removeValue(forKey: place) { notFound(entry, now) }
        case .failed: if let entry = displaced[place] { failed(entry, now) }
        }
        // A record that replaced it meanwhile needs no tombstone and must not get one.
        guard let slot = index.find(step.story, place.partition), index[slot].place == place else { return }
        switch ending {
        case .putBack(_, let story):
            index.change(slot) { $0.state = .returned }
            underWay[place] = HeldStep(story: step.story, kind: .erase)
            actions.append(.erase([Erasure(place, story: story, index[slot].original)]))
        // The new record or the tombstone has not been read yet.
        case .written: break
        case .gone:
            endangered[place] = nil
            notFound(index[slot], now)
            index.remove(slot)
        case .failed:
            // Without its tombstone, the event returns again and is reported as a duplicate.
            index.change(slot) { $0.state = .waiting }
            failed(index[slot], now)
        }
    }

    mutating func notFound(_ entry: HeldIndex.Entry, _ now: Instant) {
        reach.refresh(at: now)
        vanishedEvents.notFound(entry, look: reach.look)
    }

    /// Nothing more is written to the event's partition for a while.
    private mutating func failed(_ entry: HeldIndex.Entry, _ now: Instant) {
        failingSince = failingSince ?? now
        if sources.block(entry.source, until: now + HeldSources.blockedFor) { requeue() }
    }

    /// Rewrites endangered records of our partitions. Other processes rewrite those of theirs.
    private mutating func writeAgain(_ actions: inout [Action]) {
        guard hasNewDangers else { return }
        hasNewDangers = false
        var places: [HeldPlace] = []
        for (place, story) in endangered where underWay[place] == nil {
            guard let slot = index.find(story, place.partition), index[slot].place == place else { continue }
            let entry = index[slot]
            guard entry.state == .waiting, sources.isOurs(entry.source), mayReturn(entry),
                !sources.isBlocked(entry.source)
            else { continue }
            index.change(slot) { $0.state = .rewriting }
            underWay[place] = HeldStep(story: story, kind: .writeAgain)
            places.append(place)
        }
        if !places.isEmpty { actions.append(.writeAgain(places.sorted())) }
    }
}
