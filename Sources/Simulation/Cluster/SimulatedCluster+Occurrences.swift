import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// Carries out the entries of the agenda.
extension SimulatedCluster {
    mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .publish(let item): publish(item)
        case .begins(let fault): begin(fault)
        case .ends(let fault): end(fault)
        case .giveOrder(let order, let isLift): give(order, isLift: isLift)
        case .replaceStory(let order): replaceStory(order)
        case .rename(let rename): self.rename(rename)
        case .writeControl(let address, let id, let record, let until):
            writeControl(id, record, until: until, from: address)
        case .writeHeld(let address, let record, let item, let place):
            writeHeld(record, item: item, place, from: address)
        case .putBack(let address, let one): putBack(one, from: address)
        case .restoreHeld(let address, let one): restoreHeld(one, from: address)
        case .findHeldEnds(let address, let look): findHeldEnds(look, for: address)
        case .start(let process): start(process)
        case .thaw(let process): thaw(process)
        case .calm:
            record(.calm)
            agenda.add(.review, at: now)
        case .review: review()
        case .createTopic(let topic, let partitions): createTopic(topic, partitions: partitions)
        case .growTopic(let topic, let count): growTopic(topic, to: count)
        case .announceCounts: announceCounts()
        case .serveReaders: for process in processes.indices { wakePoll(process) }
        case .noticeCounts(let lane): noticeCounts(lane)
        case .append(let address, let production): append(production, from: address)
        case .acknowledge(let address): acknowledge(address)
        case .commit(let address, let request): commit(request, from: address)
        case .completeJoin(let lane, let round, let isForced): completeJoin(lane, round: round, isForced: isForced)
        case .expireSession(let address, let lane): expireSession(address, lane: lane)
        case .arrive(let flight): arrive(flight)
        default: happenInside(occurrence)
        }
    }

    /// Carries out an occurrence inside a process.
    private mutating func happenInside(_ occurrence: Occurrence) {
        switch occurrence {
        case .input(let address, let input, let items): feed(address.process, input, items: items)
        case .connection(let address, let id, let number, let event): hear(event, address, id, number: number)
        case .wakePool(let address): wakePool(address)
        case .handOver(let address): handOver(address)
        case .alarm(let address, let serial): ring(address, serial)
        case .command(let address, let command): obey(command, address)
        case .close(let address): close(address)
        case .poll(let address): poll(address)
        case .readLedger(let address, let lane, let turn): readLedger(address, lane: lane, turn: turn)
        case .locate(let address, let lane, let requests): locate(requests, address, lane: lane)
        case .noticeRebalance(let address, let lane, let round): noticeRebalance(address, lane: lane, round: round)
        case .takeAssignment(let address, let lane, let generation, let partitions):
            takeAssignment(address, lane: lane, groupGeneration: generation, partitions)
        case .noticeLoss(let address, let lane): noticeLoss(address, lane: lane)
        case .expireRelease(let address, let lane): expireRelease(address, lane: lane)
        case .askCounts(let address, let isRegular): askCounts(address, isRegular: isRegular)
        case .takeCounts(let address, let counts, let readIn):
            post([.partitionCounts(counts, readIn: readIn)], to: address)
            noteCounts(counts, address)
        case .lookAtIncarnations(let address): lookAtIncarnations(address)
        case .examine(let address, let lane, let checks): examine(checks, address, lane: lane)
        case .examineRemovals(let address, let lane, let checks): examine(checks, address, lane: lane)
        case .retryProduce(let address): retryProduce(address)
        case .inspect(let address): inspect(address)
        case .exit(let address): exit(address)
        case .writeLog(let address): writeLog(address)
        case .readControl(let address): readControl(address)
        case .tickControl(let address): tickControl(address)
        case .answerControlState(let address, let answer): tellControlState(answer, address)
        case .readHeld(let address): readHeld(address)
        case .alarmHeld(let address, let serial): ringHeld(address, serial)
        case .tellHeld(let address, let input): tellHeldState(input, address)
        case .askHub(let address): askHub(address)
        case .hearHub(let address, let date): hearHub(address, date)
        default: break
        }
    }

    private mutating func ring(_ address: Address, _ serial: Int) {
        guard processes[address.process].alarm?.serial == serial else { return }
        processes[address.process].alarm = nil
        feed(address.process, .alarm)
    }

    private mutating func publish(_ item: Int) {
        let news = truth.news[item]
        guard let count = truth.counts[news.topic], count > 0 else {
            // Its producer waits for the topic to exist again.
            agenda.add(.publish(item: item), at: now + .milliseconds(500))
            return
        }
        truth.publish(item, in: Int32(news.keyHash % count))
        countKind(news)
        record(.published(item: item))
        for process in processes.indices { wakePoll(process) }
    }

    private mutating func countKind(_ news: NewsItem) {
        switch news.copy {
        case .redriven: strike(.redriven)
        case .republished: strike(.republished)
        case .returned, .restored, .replacement, nil: break
        }
        if news.kind == .canceled { strike(.recalled) }
        if news.embargoUntil ?? .distantPast > now { strike(.embargoed) }
        let isOdd = news.record.timestamp.map { $0 > now || $0 < now - .seconds(60) } ?? true
        if isOdd { strike(.oddTimestamp) }
        if news.record.byteCount > 8_000 { strike(.largeRecord) }
    }

    /// Sends Kafka's events to an engine, in order.
    ///
    /// - Parameter items: the news in the records, by partition.
    mutating func post(
        _ events: [KafkaEvent], items: [TopicPartition: [Int]] = [:], to address: Address, after delay: Duration = .zero
    ) {
        guard !events.isEmpty else { return }
        let at = max(processes[address.process].postedUntil, now + delay + random.milliseconds(0...3))
        processes[address.process].postedUntil = at
        for event in events {
            var behind: [Int] = []
            if case .records(_, _, let partition, _) = event { behind = items[partition] ?? [] }
            agenda.add(.input(address, .kafka(event), items: behind), at: at)
        }
    }

    mutating func post(_ events: ShardEvents, items: [TopicPartition: [Int]] = [:], to address: Address) {
        var events = events
        var lists: [[KafkaEvent]] = []
        events.flush { lists.append($1) }
        for list in lists { post(list, items: items, to: address) }
    }
}
