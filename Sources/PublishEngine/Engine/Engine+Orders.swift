import DequeModule
import EditorialControl
import HeapModule
import KafkaModel
import NewsModel

/// Editors' orders: recalls end what waits, stops hold it back. They come from the control topic, and hold in every lane.
extension Engine {
    /// Obeys each order and says what it met.
    mutating func obey(_ changes: [OrderChange], _ turn: inout Turn) {
        for change in changes {
            orders.apply(change)
            // Said before the results of what it ended: an editor waits for it, and it holds from here on.
            let place = turn.actions.endIndex
            var met = AppliedOrder(order: change.scope.key)
            switch change {
            case .stands(let order):
                switch order.scope {
                case .recall(let story): met = recall(story, before: orders.takeMet(story), &turn)
                case .stop(let gate): met = stop(gate)
                }
                met.order = order.id
            case .lifted(.stop): met.waiting = resume()
            case .lifted(.recall): break
            }
            turn.actions.insert(.applied(met), at: place)
        }
    }

    // MARK: Recalls

    /// An event recalls its story: at once on this shard and the process's others, and everywhere by an order on the control topic.
    mutating func recallEverywhere(_ event: NewsEvent, _ content: ExaminedRecord, _ first: Place, _ turn: inout Turn) {
        // Where recalls are kept, whoever keeps them knows best which one is new.
        guard orders.recall(event.orderKey) || orders.areRecallsKept else { return }
        let given = EventRecall(
            story: event.orderKey, eventID: event.id,
            source: .init(partition: partitions[first.slot].id, offset: content.record.offset),
            at: min(content.record.timestamp ?? turn.wall, turn.wall))
        recall(given, &turn)
        for key in orderKeys(of: event.orderKey) { takeBackHeld(key, because: .recalled, &turn) }
        turn.actions.append(.recall(given))
    }

    /// An event has recalled the story, here or on another shard. What that ends is told under the order that is made of it.
    mutating func recall(_ given: EventRecall, _ turn: inout Turn) {
        let before = orders.takeMet(given.story)
        // The results name the order.
        orders.note(before ?? AppliedOrder(order: given.orderID), of: given.story)
        var met = recall(given.story, before: before, &turn)
        met.order = before?.order ?? given.orderID
        orders.note(met, of: given.story)
    }

    /// - Parameter before: what a recall by an event has met here already: requests in flight are still the same.
    private mutating func recall(_ story: String, before: AppliedOrder?, _ turn: inout Turn) -> AppliedOrder {
        var met = recall(story, &turn)
        if orderKeys(of: story).contains(where: { held.contains($0) }) { met.held = 1 }
        guard let before else { return met }
        met.waiting += before.waiting
        met.inFlight = before.inFlight
        met.held = max(met.held, before.held)
        return met
    }

    /// Nothing of the story leaves any more, in any lane: what waits ends, what is in flight is awaited and not tried again.
    ///
    /// - Returns: how much of it there was.
    private mutating func recall(_ story: String, _ turn: inout Turn) -> AppliedOrder {
        var met = AppliedOrder(order: "")
        for platform in settings.platforms.indices {
            for lane in lanes.ids {
                for id in openDeliveries(of: story, platform, lane) {
                    guard let place = partitions.place(of: id), let content = partitions.content(of: place),
                        content.routed?.event.orderKey == story, !isReplacement(content, of: story)
                    else { continue }
                    if partitions[place].isQueued { met.waiting += 1 }
                    if partitions[place].phase == .inFlight { met.inFlight += 1 }
                    withdraw(id, for: .recalled, &turn)
                }
            }
        }
        advanceStories(&turn)
        // The story alone is known to those who keep the held topic.
        if !editions.isEmpty {
            for key in orderKeys(of: story) where key != story { takeBackHeld(key, because: .recalled, &turn) }
        }
        return met
    }

    /// In all the languages that are sent apart.
    private func openDeliveries(of story: String, _ platform: Int, _ lane: LaneID) -> [DeliveryID] {
        orderKeys(of: story).flatMap { openDeliveries(of: StoryID($0, platform: platform, lane: lane)) }
    }

    func orderKeys(of story: String) -> [String] {
        editions.isEmpty ? [story] : [story] + editions.map { RoutedEvent.orderKey(story, edition: $0) }
    }

    /// It was written to take the place of a recalled story on the phones, by the recall that stands.
    func isReplacement(_ content: ExaminedRecord, of story: String) -> Bool {
        guard let order = content.record.text(of: HeaderName.replacement) else { return false }
        return order == orders.recall(of: story)?.id
    }

    /// The outcome of an event that recalls a story is reported once that recall stands on the control topic: after a crash
    /// between the two, the event is read again and recalls again.
    mutating func settleRecalling(_ platforms: UInt16, of first: Place, _ story: String, _ turn: inout Turn) {
        guard orders.areRecallsKept else { return settleAll(platforms, of: first, as: .canceled, .canceled, &turn) }
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            let place = first.on(platform)
            guard let content = partitions.content(of: place) else { continue }
            let request = end(place, content, as: .canceled, .canceled, nil, isPending: true, turn)
            pendingResults.add(request, untilRecallOf: story)
        }
    }

    private mutating func finishRecalls(_ deliveries: [DeliveryID], _ turn: inout Turn) {
        for id in deliveries {
            guard let place = partitions.place(of: id), partitions[place].phase == .pending,
                let request = pendingResults.take(id)
            else { continue }
            write(request, place, &turn)
        }
    }

    /// The order of an event's recall stands, or never will: nobody asks any more what it has met.
    mutating func settleRecall(of story: String, _ turn: inout Turn) {
        _ = orders.takeMet(story)
        finishRecalls(pendingResults.recalls(of: story), &turn)
    }

    /// Why a delivery of a recalled story ends.
    func recalled(_ story: String) -> ResultRecord.Failure {
        guard let order = orders.recallID(of: story) else { return .init(.recalled, "the story was recalled") }
        return .init(.recalled, "the story was recalled by order \(order)")
    }

    // MARK: Stops

    /// A gate closes. What it stops stays where it is, or is set aside when it comes to the front.
    private mutating func stop(_ gate: Gate) -> AppliedOrder {
        for lane in lanes.ids { lanes[lane].isStopped = orders.isStopped(lane: lanes[lane].settings.name) }
        var met = AppliedOrder(order: "")
        let gates = ContentGates([gate])
        for lane in lanes.ids {
            if case .lane(let name) = gate, name != lanes[lane].settings.name { continue }
            for slot in lanes[lane].slots {
                for index in partitions[slot].entries.indices {
                    let content = partitions[slot].content(at: index)
                    guard gates.isEmpty || content.flatMap(gates.gate) != nil else { continue }
                    for platform in settings.platforms.indices {
                        let delivery = partitions[slot][index, platform]
                        if delivery.isQueued || delivery.phase == .unexamined { met.waiting += 1 }
                        if delivery.phase == .inFlight { met.inFlight += 1 }
                    }
                }
            }
        }
        return met
    }

    /// A gate opens: everything that was set aside comes to the front again, in order. If another gate stops it too, it is set
    /// aside there.
    ///
    /// - Returns: the number of deliveries that come.
    private mutating func resume() -> Int {
        var count = 0
        for lane in lanes.ids {
            lanes[lane].isStopped = orders.isStopped(lane: lanes[lane].settings.name)
            guard !lanes[lane].stopped.isEmpty else { continue }
            for next in lanes[lane].stopped.unordered.sorted(by: { $0.order > $1.order }) {
                guard let place = partitions.place(of: next.id), partitions[place].phase == .delayed else { continue }
                makeReady(place)
                count += 1
            }
            lanes[lane].stopped = []
        }
        return count
    }

    /// The delivery at the front stands before a gate: it lets others pass, and its story waits behind it.
    mutating func setAside(_ place: Place, _ content: ExaminedRecord, _ turn: borrowing Turn) {
        partitions[place].delay()
        let until = min(content.staleAt, steady(of: content.deadline))
        lanes[place.lane].stop(place.id, until: max(until, turn.now + .milliseconds(1)))
    }
}
