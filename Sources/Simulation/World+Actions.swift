import NewsModel
import NotificationHub
import PublishEngine

/// An engine's actions are carried out: requests leave, results are produced, the bridge is told.
extension World {
    mutating func carryOut(_ action: Action, _ address: Address) {
        switch action {
        case .send(let token, let request): send(request, token: token, address)
        case .renewToken: processes[address.process].mintedAt = now
        case .store(let request): store(request, address)
        case .commit(let lane, let generation, let offsets):
            tell(.committing(address, lane: lane, generation: generation, offsets))
            command(.commit(lane: lane, generation: generation, offsets), address)
        case .restore(let lane, let generation, let results):
            command(.restore(lane: lane, generation: generation, results: results), address)
        case .grant(let lane, let records, let bytes):
            command(.grant(lane: lane, records: records, bytes: bytes), address)
        case .hold(let partition, let lane, let generation):
            command(.hold(partition, lane: lane, generation: generation, true), address)
        case .resume(let partition, let lane, let generation):
            command(.hold(partition, lane: lane, generation: generation, false), address)
        case .release(let lane, let generation):
            noteRelease(address, lane: lane, generation: generation)
            command(.release(lane: lane, generation: generation), address)
        case .finish: command(.close, address)
        }
    }

    /// The bridge obeys a little later, in the order it was told.
    private mutating func command(_ command: Command, _ address: Address) {
        let at = max(processes[address.process].obeyedUntil, now + random.milliseconds(0...2))
        processes[address.process].obeyedUntil = at
        agenda.add(.command(address, command), at: at)
    }

    private mutating func send(_ request: SendRequest, token: UInt64, _ address: Address) {
        guard let item = Marker.serial(in: request.body).flatMap(books.item(serial:)),
            let platform = life.setting.engine.platforms.firstIndex(where: { $0.rawValue == request.format.rawValue })
        else { return }
        let delivery = books.delivery(item: item, platform: platform)
        let tenure = tenure(of: life.news[item].partition, address) ?? -1
        books.attempts.append(Attempt(delivery: delivery, tenure: tenure, sentAt: now))
        let attempt = books.attempts.count - 1
        books.attemptsOf[delivery].append(attempt)
        report.sends += 1
        tell(.sent(attempt: attempt))
        let flight = Flight(
            address: address, token: token, attempt: attempt, mintedAt: processes[address.process].mintedAt)
        agenda.add(.arrive(flight), at: now + random.milliseconds(0...5))
    }

    private mutating func store(_ request: StoreRequest, _ address: Address) {
        guard let item = books.item(request.result.source),
            let platform = life.setting.engine.platforms.firstIndex(of: request.result.platform)
        else { return }
        let delivery = books.delivery(item: item, platform: platform)
        let tenure = tenure(of: request.result.source.partition, address)
        tell(.settled(delivery: delivery, tenure: tenure, request.result))
        produce(
            Production(token: request.token, result: request, delivery: delivery, tenure: tenure),
            to: request.result.source.partition.partition, address)
        if let deadLetter = request.deadLetter {
            produce(
                Production(token: deadLetter.token, result: nil, delivery: delivery, tenure: tenure), to: -1, address)
        }
    }

    private mutating func produce(_ production: Production, to partition: Int32, _ address: Address) {
        let least = processes[address.process].appendedUntil[partition] ?? .distantPast
        let at = max(least, now + random.milliseconds(1...12))
        processes[address.process].appendedUntil[partition] = at
        processes[address.process].outstanding += 1
        agenda.add(.append(address, production), at: at)
    }

    // MARK: The broker takes records

    mutating func append(_ production: Production, from address: Address) {
        let isAlive =
            processes[address.process].incarnation == address.incarnation
            && processes[address.process].engine != nil
        if !isAlive, now > lastWords[address] ?? .distantPast { return }
        if let until = stallEnd, production.result != nil {
            agenda.add(.append(address, production), at: until)
            return
        }
        var offset: Int64? = 0
        if let request = production.result, let delivery = production.delivery {
            let partition = request.result.source.partition.partition
            let end = books.ledger[partition]?.last.map { $0.offset + 1 } ?? 0
            offset = end
            let restored = RestoredResult(
                source: request.result.source, platform: request.result.platform, outcome: request.result.outcome,
                eventID: request.result.eventID ?? "", version: request.version, offset: end)
            books.ledger[partition, default: []].append(
                Books.LedgerRow(offset: end, delivery: delivery, result: restored, tenure: production.tenure))
            let stored = Books.StoredResult(
                tenure: production.tenure, outcome: request.result.outcome, partition: partition, offset: end)
            books.resultsOf[delivery].append(stored)
            report.results += 1
            tell(.stored(delivery: delivery, stored, isAlive: isAlive))
        } else if refusesDeadLetters {
            offset = nil
        }
        guard isAlive else { return }
        processes[address.process].outstanding -= 1
        if let delivery = production.delivery { tell(.acknowledged(tenure: production.tenure, delivery: delivery)) }
        let isScheduled = !processes[address.process].acknowledgements.isEmpty
        processes[address.process].acknowledgements.append(Acknowledgement(token: production.token, offset: offset))
        if !isScheduled { agenda.add(.acknowledge(address), at: now + random.milliseconds(0...8)) }
    }

    mutating func acknowledge(_ address: Address) {
        guard processes[address.process].incarnation == address.incarnation else { return }
        let acknowledgements = processes[address.process].acknowledgements
        processes[address.process].acknowledgements = []
        post(.stored(acknowledgements), to: address)
    }
}
