import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// The control topic. Editors and processes write to it. Every process follows it as `ControlState` decides, possibly late or
/// after a pause.
extension SimulatedCluster {
    // MARK: Editors

    /// An editor gives an order or lifts it. The command line retries until the broker has stored it. The editor lifts an order again
    /// that a process has written again because it could not read the end.
    mutating func give(_ index: Int, isLift: Bool) {
        let given = scenario.orders[index]
        guard controlFailure() == nil, !isLift || ordersGiven.contains(index) else {
            agenda.add(.giveOrder(index, isLift: isLift), at: now + .milliseconds(500))
            return
        }
        if isLift {
            let isAgain = !ordersLifted.insert(given.id).inserted
            if isAgain, truth.control.order(given.scope)?.id != given.id { return }
            return write(.lifted(given.scope))
        }
        ordersGiven.insert(index)
        strike(given.scope.isRecall ? .recallOrdered : .stopOrdered)
        if given.lapsesAfter != nil { strike(.lapsingRecall) }
        let lasts = given.lapsesAfter ?? (given.scope.isRecall ? Order.recallLasts : nil)
        let until = lasts.map { now + $0 }
        let order = Order(
            id: given.id, scope: given.scope, at: now + given.clockError, by: "editor", reason: "life", until: until)
        write(.stands(order))
        if given.replaces {
            agenda.add(.replaceStory(index), at: now + random.milliseconds(0...1_500))
        }
    }

    private mutating func write(_ record: ControlRecord) {
        let produced = record.record(on: "control")
        appendControl(key: produced.key, value: produced.value, headers: produced.headers)
    }

    private mutating func appendControl(key: [UInt8]?, value: [UInt8]?, headers: [RecordHeader] = []) {
        let row = truth.control.append(key: key, value: value, headers: headers, at: now)
        self.record(.controlled(row))
        for process in processes.indices { wakeControl(process) }
    }

    /// The editor gives a lapsed order again at the worst moment: a process has decided to remove the old record, and the tombstone
    /// is stored after the new one.
    private mutating func renew(_ lapsed: String) {
        for index in scenario.orders.indices where !ordersGiven.contains(index) {
            guard scenario.orders[index].renews == lapsed else { continue }
            strike(.renewedOrder)
            give(index, isLift: false)
        }
    }

    mutating func litterControl(_ fault: Int) {
        guard setting.hasControl else { return }
        strike(fault, .garbledControl)
        let keys = ["", "recall/story/", "quiet/World", "recall/story/story-1", "beat/", "stop/lane/nobody"]
        let values = ["", "no order", "{}", #"{"do":"dance"}"#, #"{"do":7,"at":"yesterday"}"#]
        let key = keys[fault % keys.count]
        // An order of an unknown kind would stop every process for ever, because nobody lifts it here.
        let value = key == "quiet/World" ? "{}" : values[fault % values.count]
        appendControl(key: key.isEmpty ? nil : Array(key.utf8), value: Array(value.utf8))
    }

    mutating func compactControl(_ fault: Int) {
        // A broker does not compact records behind the start of an open transaction.
        guard transactions.isEmpty else { return }
        for scope in truth.control.hiddenOrders { record(.orderLost(scope)) }
        if truth.control.compact(tombstonesBefore: now - .seconds(60)) { strike(fault, .compactedControl) }
    }

    mutating func truncateControl(_ fault: Int) {
        // No records behind the start of an open transaction are removed.
        guard transactions.isEmpty else { return }
        strike(fault, .truncatedControl)
        truth.control.truncate()
        record(.controlTruncated)
    }

    // MARK: Processes

    mutating func openControl(_ address: Address) {
        var settings = ControlState.Settings(replica: address.replica, shards: 1)
        settings.staleAfter = setting.controlStaleAfter
        settings.onStale = setting.onStale
        settings.asksHubForTime = true
        processes[address.process].control = ControlClient(settings)
        wakeControl(address.process)
        agenda.add(.tickControl(address), at: now + random.milliseconds(0...1_000))
    }

    mutating func tickControl(_ address: Address) {
        agenda.add(.tickControl(address), at: now + .seconds(1))
        if processes[address.process].awaitsTime, now - processes[address.process].askedHubAt >= .seconds(10) {
            processes[address.process].askedHubAt = now
            agenda.add(.askHub(address), at: now + .milliseconds(20))
        }
        lookAtControl(address)
        tellControlState(.tick, address)
        tellHeldState(.alarm, address)
    }

    /// Reads the topic from its beginning again if records were removed there.
    private mutating func lookAtControl(_ address: Address) {
        guard let client = processes[address.process].control, client.wanted != nil, now >= client.looksFrom,
            setting.hasControl, controlFailure() == nil
        else { return }
        processes[address.process].control?.looksFrom = now + .seconds(20)
        guard truth.control.start > client.start else { return }
        processes[address.process].control?.wanted = nil
        wakeControl(address.process)
    }

    mutating func tellControlState(_ input: ControlState.Input, _ address: Address) {
        let moment = processes[address.process].moment(at: now)
        guard let actions = processes[address.process].control?.state.handle(input, at: moment) else { return }
        if let trace, !actions.isEmpty { trace("  control state \(address): \(actions)") }
        noteKeepsRecalls(address)
        for action in actions { carryOut(action, address) }
    }

    /// Tells the engine whether the control topic keeps recalls, before it learns that orders are known.
    private mutating func noteKeepsRecalls(_ address: Address) {
        let process = processes[address.process]
        guard let client = process.control else { return }
        let keepsRecalls = client.state.status(at: process.moment(at: now)).keepsRecalls
        guard keepsRecalls != client.keepsRecalls else { return }
        processes[address.process].control?.keepsRecalls = keepsRecalls
        tell(.keepsRecalls(keepsRecalls), address)
    }

    private mutating func carryOut(_ action: ControlState.Action, _ address: Address) {
        switch action {
        case .tell(let changes):
            tell(.orders(changes), address)
            tellHeldState(.orders(changes), address)
        case .settled(let stories): tell(.recallsSettled(stories), address)
        case .known(let isKnown): tell(.ordersKnown(isKnown), address)
        case .write(let id, let record): produceControl(id, record, address)
        case .audit(let id, let entry):
            record(.audited(address, entry))
            agenda.add(.answerControlState(address, .written(id)), at: now + random.milliseconds(1...20))
        case .formerlyHeld(let totals): tellHeldState(.formerly(totals), address)
        case .confirmed(let number, _): tell(.ordersConfirmed(number), address)
        case .reread(let reading):
            processes[address.process].control?.reading = reading
            processes[address.process].control?.wanted = nil
            wakeControl(address.process)
        case .note(let note): log("\(note)", address)
        case .finished: processes[address.process].control?.isFinished = true
        }
    }

    /// Sends an input to the engine through the queue of its loop, in order.
    private mutating func tell(_ input: Input, _ address: Address) {
        let at = max(processes[address.process].control?.toldUntil ?? now, now + random.milliseconds(0...3))
        processes[address.process].control?.toldUntil = at
        agenda.add(.input(address, input, items: []), at: at)
    }

    // MARK: Writing

    private mutating func produceControl(_ id: ControlState.WriteID, _ record: ControlRecord, _ address: Address) {
        if case .lapsed(_, let order, _) = record { renew(order) }
        let until = now + setting.messageTimeout
        let at = max(processes[address.process].control?.writtenUntil ?? now, now + random.milliseconds(1...12))
        processes[address.process].control?.writtenUntil = at
        agenda.add(.writeControl(address, id, record, until: until), at: at)
    }

    /// Handles a write at the broker, which it may reach although its process has died.
    mutating func writeControl(
        _ id: ControlState.WriteID, _ record: ControlRecord, until: Instant, from address: Address
    ) {
        let isAlive = processes[address.process].run == address.run && processes[address.process].engine != nil
        if !isAlive, now > writesInTransit[address] ?? .distantPast { return }
        var answer = ControlState.Input.written(id)
        if !setting.hasControl {
            answer = .notWritten(id, KafkaFailure(code: "UNKNOWN_TOPIC_OR_PART", detail: "no such topic"))
        } else if controlFailure() != nil {
            guard now >= until else {
                agenda.add(.writeControl(address, id, record, until: until), at: min(now + .milliseconds(500), until))
                return
            }
            answer = .notWritten(id, KafkaFailure(code: "_MSG_TIMED_OUT", isRetriable: true, detail: "away"))
        } else {
            if case .stands(let order) = record { noteOrder(order) }
            if case .lapsed = record { strike(.lapsedOrder) }
            write(record)
        }
        guard isAlive else { return }
        agenda.add(.answerControlState(address, answer), at: now + random.milliseconds(0...8))
    }

    private mutating func noteOrder(_ order: Order) {
        let given = scenario.orders.firstIndex { $0.id == order.id }
        if let given, ordersLifted.contains(order.id) {
            agenda.add(.giveOrder(given, isLift: true), at: now + .seconds(120))
        }
        if given == nil { strike(.recallByEvent) }
    }

    // MARK: Reading

    mutating func wakeControl(_ index: Int) {
        guard processes[index].engine != nil, processes[index].control?.isReading == false else { return }
        processes[index].control?.isReading = true
        let address = Address(process: index, run: processes[index].run)
        agenda.add(.readControl(address), at: now + random.milliseconds(1...20) + controlDelay())
    }

    /// One turn of the thread that follows the control topic.
    mutating func readControl(_ address: Address) {
        guard var client = processes[address.process].control else { return }
        client.isReading = false
        if !setting.hasControl || controlFailure() != nil {
            // The reader retries and then reads the topic from its beginning.
            client.isReading = true
            client.wanted = nil
            processes[address.process].control = client
            agenda.add(.readControl(address), at: now + random.milliseconds(500...3_000))
            let failure = KafkaFailure(code: "_TRANSPORT", isRetriable: true, detail: "away")
            tellControlState(setting.hasControl ? .unreadable(failure) : .missing, address)
            return
        }
        let isNew = client.wanted == nil
        let end = stableControlEnd
        if isNew {
            client.start = truth.control.start
            client.position = client.start
            client.hasReachedEnd = false
            client.wanted = truth.control.end
            client.isHeldUp = nil
        }
        let rows = truth.control.rows(from: client.position).prefix { $0.offset < end }.prefix(random.number(1...8))
        client.position = rows.last.map { $0.offset + 1 } ?? max(client.position, end)
        let isAtEnd = !client.hasReachedEnd && client.position >= client.wanted ?? 0
        if isAtEnd { client.hasReachedEnd = true }
        processes[address.process].control = client
        if client.position < end { wakeControl(address.process) }
        let isHeldUp = end < truth.control.end
        if isHeldUp { for fault in transactions.keys { strike(fault, .openTransaction) } }
        if client.position >= end, isHeldUp != client.isHeldUp {
            processes[address.process].control?.isHeldUp = isHeldUp
            tellControlState(.heldUp(isHeldUp), address)
        }
        if isNew { tellControlState(.began(reading: client.reading, start: client.start), address) }
        if !rows.isEmpty { tellControlState(.records(rows.map(\.record)), address) }
        if isAtEnd { tellControlState(.reachedEnd, address) }
    }

    // MARK: Faults in force

    /// The start of the oldest open transaction, which hides all later records; otherwise the end.
    private var stableControlEnd: Int64 { transactions.values.min() ?? truth.control.end }

    private mutating func controlFailure() -> Int? {
        let fault = activeFaults.first { scenario.faults[$0].kind == .controlAway }
        if let fault { strike(fault, .controlAway) }
        return fault
    }

    private mutating func controlDelay() -> Duration {
        var sum = Duration.zero
        for fault in activeFaults {
            guard case .slowControl(let more) = scenario.faults[fault].kind else { continue }
            strike(fault, .slowControl)
            sum += more
        }
        return sum
    }
}
