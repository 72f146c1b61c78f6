import EditorialControl
import HubModel
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// Carries out an engine's actions: sends requests, produces results and commands the driver.
extension SimulatedCluster {
    mutating func carryOut(_ action: Action, _ address: Address) {
        switch action {
        case .send(let id, let request): send(request, id: id, address)
        case .renewToken: processes[address.process].mintedAt = now
        case .store(let request): store(request, address)
        case .storeDeadLetter(let request, let original):
            log("dead letter: \(request.result.outcome.rawValue)", address)
            storeDeadLetter(request, original, address)
        case .kafka(let command):
            switch command {
            case .commit(let lane, let generation, let offsets):
                record(.committing(address, lane: lane, generation, offsets))
            case .release(let lane, let generation): noteRelease(address, lane, generation)
            case .rewind(let partition, let lane, let generation): noteRewind(partition, address, lane, generation)
            default: break
            }
            self.command(command, address)
        case .finish(let leftovers):
            record(.finished(address, leftovers))
            agenda.add(.close(address), at: obeyTime(address))
        case .recall(let recall): tellControlState(.recalled(recall), address)
        case .applied(let applied):
            record(.applied(address, applied))
            agenda.add(
                .answerControlState(address, .applied(applied, shard: ShardID(0))), at: now + random.milliseconds(0...2)
            )
        case .hold(let request, let original, let event): hold(request, original, event, address)
        case .returnHeld(let story, let reason, let part):
            // The state receives recall requests between two readings of the held topic, so it may read on first.
            let at = max(processes[address.process].held?.wishedUntil ?? now, now + random.milliseconds(0...120))
            processes[address.process].held?.wishedUntil = at
            agenda.add(.tellHeld(address, .bringBack(story: story, reason, part)), at: at)
        case .confirmOrders(let number):
            agenda.add(
                .answerControlState(address, .confirm(number, shard: ShardID(0))), at: now + random.milliseconds(0...2))
        // No record of the simulation has a schema.
        case .fetchSchema: break
        case .askHubForTime: agenda.add(.askHub(address), at: now + .milliseconds(20))
        case .clockStepped(let step):
            processes[address.process].awaitsTime = true
            log("the clock was set by \(step)", address)
        }
    }

    private mutating func send(_ request: SendRequest, id: RequestID, _ address: Address) {
        guard let item = Marker.serial(in: request.body).flatMap(truth.item(serial:)),
            let platform = setting.engine.platforms.firstIndex(where: { $0.rawValue == request.format.rawValue }),
            let partition = truth.places[item]?.partition
        else { return }
        let delivery = truth.delivery(item: item, platform: platform)
        let ownership = ownership(of: partition, address) ?? -1
        truth.attempts.append(Attempt(delivery: delivery, ownership: ownership, tags: request.tags, sentAt: now))
        let attempt = truth.attempts.count - 1
        truth.attemptsOf[delivery].append(attempt)
        report.sends += 1
        record(.sent(attempt: attempt, address, wall: processes[address.process].moment(at: now).wall))
        processes[address.process].attempts[id] = attempt
        tellPool(address) { $0.send(.send(request), id: id, at: $1) }
    }

    // MARK: Results and dead letters

    private mutating func store(_ request: StoreRequest, _ address: Address) {
        guard let (delivery, ownership) = settled(request, address) else { return }
        record(.settled(delivery: delivery, ownership: ownership, request.result, address))
        let partition = TopicPartition(topic: setting.results, partition: request.result.source.partition.partition)
        let carried = request.carried.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 8 }
        let texts = (request.result.eventID?.utf8.count ?? 0) + (request.result.error?.detail.utf8.count ?? 0)
        produce(
            Production(
                key: .init(shard: ShardID(0), delivery: request.delivery, kind: .result), request: request,
                partition: partition, delivery: delivery, ownership: ownership, bytes: 400 + carried + texts,
                smallestBytes: 250, timestamp: processes[address.process].moment(at: now).wall), address)
    }

    private mutating func storeDeadLetter(_ request: StoreRequest, _ original: SourceRecord, _ address: Address) {
        guard let (delivery, ownership) = settled(request, address) else { return }
        record(.deadLettered(delivery: delivery, ownership: ownership, request.result, address))
        let count = max(truth.counts[Setting.deadLetters] ?? 1, 1)
        let number = truth.news[truth.item(of: delivery)].keyHash % count
        let partition = TopicPartition(topic: Setting.deadLetters, partition: Int32(number))
        produce(
            Production(
                key: .init(shard: ShardID(0), delivery: request.delivery, kind: .deadLetter), request: request,
                partition: partition, delivery: delivery, ownership: ownership, bytes: original.byteCount + 250,
                smallestBytes: 250, timestamp: processes[address.process].moment(at: now).wall), address)
    }

    private mutating func hold(
        _ request: StoreRequest, _ original: SourceRecord, _ event: HeldEvent, _ address: Address
    ) {
        guard let (delivery, ownership) = settled(request, address) else { return }
        record(.holding(delivery: delivery, ownership: ownership, request.result, address))
        let record = HeldRecord.hold(original, event, topic: Setting.held)
        produce(
            Production(
                key: .init(shard: ShardID(0), delivery: request.delivery, kind: .held), request: request,
                partition: request.result.source.partition.with(topic: Setting.held), delivery: delivery,
                ownership: ownership, bytes: original.byteCount, smallestBytes: original.byteCount,
                timestamp: processes[address.process].moment(at: now).wall, record: record), address)
    }

    /// Returns the delivery that an engine reports as settled, and its ownership.
    private mutating func settled(_ request: StoreRequest, _ address: Address) -> (Int, Int?)? {
        let source = request.result.source
        let ownership = ownership(of: source.partition, address)
        let item =
            ownership.flatMap { truth.ownerships[$0].taken[source.offset] }
            ?? truth.ownerships.last { $0.address == address && $0.partition == source.partition }?.taken[source.offset]
        guard let item, let platform = setting.engine.platforms.firstIndex(of: request.result.platform) else {
            record(.strange("\(source)/\(request.result.platform) ended, but was never read"))
            return nil
        }
        return (truth.delivery(item: item, platform: platform), ownership)
    }
}
