import ByteText
import KafkaModel
import NewsModel
import PublishEngine

/// The producer of a process and the broker behind it. Records are appended, refused, or wait. Refused records are retried as
/// `RefusedRecords` decides.
extension SimulatedCluster {
    mutating func produce(_ given: Production, _ address: Address) {
        var production = given
        production.until = now + setting.messageTimeout
        let least = processes[address.process].appendedUntil[production.partition] ?? .distantPast
        let at = max(least, now + random.milliseconds(1...12))
        processes[address.process].appendedUntil[production.partition] = at
        processes[address.process].outstanding += 1
        agenda.add(.append(address, production), at: at)
    }

    mutating func append(_ production: Production, from address: Address) {
        let isAlive = processes[address.process].run == address.run && processes[address.process].engine != nil
        if !isAlive, now > writesInTransit[address] ?? .distantPast { return }
        if let until = appendBlock(production.partition) {
            if until < production.until {
                agenda.add(.append(address, production), at: until)
            } else if now < production.until {
                agenda.add(.append(address, production), at: production.until)
            } else if isAlive {
                refuse(production, "_MSG_TIMED_OUT", address)
            }
            return
        }
        if let code = refusal(of: production) {
            if isAlive { refuse(production, code, address) }
            return
        }
        let offset = append(production, isAlive: isAlive)
        guard isAlive else { return }
        processes[address.process].outstanding -= 1
        processes[address.process].refused.stored(production.key)
        processes[address.process].productions[production.key] = nil
        record(
            .acknowledged(
                ownership: production.ownership, delivery: production.delivery, production.key.kind, address))
        let isScheduled = !processes[address.process].acknowledgements.isEmpty
        processes[address.process].acknowledgements.append(
            StoredRecord(
                delivery: production.key.delivery, kind: production.key.kind, offset: offset,
                isAlone: production.isAlone))
        if !isScheduled { agenda.add(.acknowledge(address), at: now + random.milliseconds(0...8)) }
    }

    /// Appends the record and returns its offset.
    private mutating func append(_ production: Production, isAlive: Bool) -> Int64 {
        let delivery = production.delivery
        switch production.key.kind {
        case .result: break
        case .deadLetter:
            truth.hasDeadLetter[delivery] = true
            return 0
        case .held:
            strike(.held)
            return production.record.map {
                appendHeld($0, in: production.partition.partition, item: truth.item(of: delivery))
            } ?? 0
        }
        let result = production.request.result
        let partition = production.partition.partition
        let offset = truth.ledger[partition, default: ResultsLog()].end
        let entry = LedgerEntry(
            offset: offset, source: result.source, platform: result.platform, outcome: result.outcome,
            identity: production.request.identity, eventID: result.eventID, version: production.request.version,
            story: production.request.ledgerStory,
            redriveOf: production.request.carried.last { $0.name == HeaderName.redriveOf }?.text)
        truth.ledger[partition, default: ResultsLog()].rows.append(
            ResultsLog.Row(delivery: delivery, entry: entry, timestamp: production.timestamp))
        let stored = GroundTruth.StoredResult(
            ownership: production.ownership, outcome: result.outcome, sends: result.sends, partition: partition,
            offset: offset)
        truth.resultsOf[delivery].append(stored)
        report.results += 1
        report.outcomes[result.outcome, default: 0] += 1
        record(.stored(delivery: delivery, stored, isAlive: isAlive))
        return offset
    }

    private mutating func refuse(_ production: Production, _ code: String, _ address: Address) {
        let index = address.process
        processes[index].outstanding -= 1
        if code == "MSG_SIZE_TOO_LARGE", production.key.kind == .held, production.isAlone {
            processes[index].refused.giveUp(production.key)
            processes[index].productions[production.key] = nil
            strike(.keptHere)
            record(.keptHere(delivery: production.delivery, ownership: production.ownership))
            post([.tooLargeToHold([production.key.delivery])], to: address)
            return
        }
        processes[index].productions[production.key] = production
        truth.wasRefused[production.delivery] = true
        let record = ProducedRecord(
            topic: production.partition.topic, partition: production.partition.partition, value: nil)
        processes[index].refused.refused(
            record, production.key, KafkaFailure(code: code, isRetriable: true, detail: code),
            wasAlone: production.isAlone, at: processes[index].moment(at: now).steady,
            smallest: { ProducedRecord(topic: $0.topic, partition: $0.partition, key: [], value: nil) })
        scheduleRetry(address)
    }

    private mutating func scheduleRetry(_ address: Address) {
        guard let due = processes[address.process].refused.nextDue else { return }
        agenda.add(.retryProduce(address), at: max(due - processes[address.process].steadyOffset, now))
    }

    mutating func retryProduce(_ address: Address) {
        let index = address.process
        for retry in processes[index].refused.due(at: processes[index].moment(at: now).steady) {
            guard var production = processes[index].productions[retry.key] else { continue }
            if retry.record.key != nil { production.bytes = production.smallestBytes }
            production.isAlone = retry.isAlone
            produce(production, address)
        }
        scheduleRetry(address)
    }

    mutating func acknowledge(_ address: Address) {
        guard processes[address.process].run == address.run else { return }
        let stored = processes[address.process].acknowledgements
        // Records outside of batches have a connection of their own, so their acknowledgements come ahead of the others or behind them.
        var draw = SeededRandom(seed: scenario.seed, 11, address.process, report.results)
        let alone = stored.filter(\.isAlone)
        let areLast = alone.isEmpty || draw.chance(percent: 50)
        let acknowledgements = (areLast ? [] : alone) + stored.filter { !$0.isAlone } + (areLast ? alone : [])
        processes[address.process].acknowledgements = []
        post([.stored(acknowledgements)], to: address)
    }
}
