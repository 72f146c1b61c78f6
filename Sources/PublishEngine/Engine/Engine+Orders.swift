import DequeModule
import EditorialControl
import KafkaModel
import NewsModel

/// Applies editors' orders in every lane: recalls end waiting deliveries, stops delay them.
extension Engine {
    /// Applies each order and reports its effect.
    mutating func obey(_ changes: [OrderChange], _ turn: inout Turn) {
        for change in changes {
            orders.apply(change, rules.router.table)
            // The report precedes the results of the deliveries that the order ends, because the editor waits for the report.
            let place = turn.actions.endIndex
            var met = AppliedOrder(order: change.scope.key)
            switch change {
            case .stands(let order):
                switch order.scope {
                case .recall(let story):
                    met = recall(story, before: orders.takeMet(story), &turn)
                    if turn.wall - order.at < Self.newsOfOrders, mayInheritSends { met.inFlight += 1 }
                case .stop(let gate): met = stop(gate)
                }
                met.order = order.id
            case .lifted(.stop): met.waiting = resumeStopped()
            case .lifted(.recall(let story)): withdrawReplacements(of: story, &turn)
            }
            turn.actions.insert(.applied(met), at: place)
        }
    }

    /// An editor may still wait for the effect of an order this recent.
    private static let newsOfOrders = Duration.seconds(60)

    /// A former owner of a partition may have sent any story to some of its readers. This is known once the ledger is read.
    private var mayInheritSends: Bool {
        lanes.contains { lane in
            lane.owned.generation == .none || lane.slots.contains { partitions[$0].isRestoring }
        }
    }

    // MARK: Recalls

    /// Recalls an event's story: at once on this process's shards, and everywhere by an order on the control topic.
    mutating func recallEverywhere(_ event: NewsEvent, _ content: ExaminedRecord, _ first: Place, _ turn: inout Turn) {
        // If a control topic keeps recalls, its keeper decides which recall is new.
        guard orders.recall(event.orderKey) || orders.areRecallsKept else { return }
        var given = EventRecall(
            story: event.orderKey, eventID: event.id,
            source: .init(partition: partitions[first.slot].id, offset: content.record.offset),
            at: content.record.timestamp)
        given.isOfFirstLane = first.lane == LaneID(0)
        recall(given, &turn)
        for key in heldKeys(of: event.orderKey) { takeBackHeld(key, because: .recalled, &turn) }
        turn.actions.append(.recall(given))
    }

    /// An event has recalled the story, here or on another shard. Results name the order that follows from it.
    mutating func recall(_ given: EventRecall, _ turn: inout Turn) {
        let before = orders.takeMet(given.story)
        // The results name the order.
        orders.note(before ?? AppliedOrder(order: given.orderID), of: given.story)
        var met = recall(given.story, before: before, &turn)
        met.order = before?.order ?? given.orderID
        orders.note(met, of: given.story)
    }

    /// - Parameter before: the effect here of an earlier recall by an event. Its requests in flight are the same ones.
    private mutating func recall(_ story: String, before: AppliedOrder?, _ turn: inout Turn) -> AppliedOrder {
        // Counted before what is held for languages and single readers is requested back.
        let heldBefore = heldKeys(of: story).count { held.contains($0) }
        var met = recall(story, &turn)
        met.held = heldBefore
        guard let before else { return met }
        met.waiting += before.waiting
        // Some may have ended since, and the ledger of more partitions may have been read.
        met.inFlight = max(met.inFlight, before.inFlight)
        met.held = max(met.held, before.held)
        return met
    }

    /// Recalls the story in every lane: ends waiting deliveries, and awaits those in flight without retrying them.
    ///
    /// - Returns: the counts of affected deliveries.
    private mutating func recall(_ story: String, _ turn: inout Turn) -> AppliedOrder {
        var met = AppliedOrder(order: "")
        let storyIDs = storyIDs(of: story)
        for id in storyIDs.flatMap({ openDeliveries(of: $0) }) {
            guard let place = partitions.place(of: id), let content = partitions.content(of: place),
                content.routed?.event.orderKey == story,
                // A replacement stays: the recall that it belongs to may not have been read yet.
                !content.isReplacement || orders.hasEndedRecall(of: content.record)
            else { continue }
            if partitions[place].isQueued { met.waiting += 1 }
            if partitions[place].phase == .inFlight { met.inFlight += 1 }
            withdraw(id, for: .recalled, &turn)
        }
        advanceStories(&turn)
        // Counts deliveries without a reply that this recall has just ended, because the results topic does not show them yet.
        let recalled = Set(storyIDs)
        for lane in lanes.ids {
            for slot in lanes[lane].slots {
                // A former owner may have sent the story to some of its readers. This is known once its record is read.
                met.inFlight += partitions[slot].unreported(of: recalled) + partitions[slot].partlySent.inherited.count
            }
        }
        // The readers of the held topic know the story's key only, so the keys of its languages and single readers are requested here.
        for key in heldKeys(of: story) where key != story { takeBackHeld(key, because: .recalled, &turn) }
        return met
    }

    /// The story on every platform, in every lane and language.
    func storyIDs(of story: String) -> [StoryID] {
        let keys = orderKeys(of: story)
        return settings.platforms.indices.flatMap { platform in
            lanes.ids.flatMap { lane in keys.map { StoryID($0, platform: platform, lane: lane) } }
        }
    }

    /// Returns true if a key on the held topic is that of a recalled story's edition or single readers.
    func isRecalledPart(_ key: String) -> Bool {
        let orderKey = HeldKey.orderKey(of: key)
        if orderKey != key, orders.isRecalled(orderKey) { return true }
        return editions.contains { edition in
            let ending = RoutedEvent.orderKey("", edition: edition)
            return orderKey.hasSuffix(ending) && orders.isRecalled(String(orderKey.dropLast(ending.count)))
        }
    }

    /// The keys under which events of the story are held: those of its languages and single readers.
    func heldKeys(of story: String) -> [String] { orderKeys(of: story).flatMap(held.keys) }

    /// The order keys of the story in all languages that are sent separately.
    func orderKeys(of story: String) -> [String] {
        editions.isEmpty ? [story] : [story] + editions.map { RoutedEvent.orderKey(story, edition: $0) }
    }

    /// Reports the outcome of a recalling event once its recall is on the control topic. After a crash between the two,
    /// the event is read again and recalls again.
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

    /// The order of an event's recall is in force, or never will be. Its recorded effect is no longer needed.
    mutating func settleRecall(of story: String, _ turn: inout Turn) {
        _ = orders.takeMet(story)
        finishRecalls(pendingResults.recalls(of: story), &turn)
    }

    /// The failure of a delivery whose story was recalled.
    func recalled(_ story: String) -> ResultRecord.Failure {
        guard let order = orders.recallID(of: story) else { return .init(.recalled, "the story was recalled") }
        return .init(.recalled, "the story was recalled by order \(order)")
    }

    // MARK: Stops

    /// Closes a gate. Stopped deliveries stay where they are, or are set aside when they reach the front.
    private mutating func stop(_ gate: Gate) -> AppliedOrder {
        for lane in lanes.ids { lanes[lane].obey(orders) }
        var met = AppliedOrder(order: "")
        let gates = ContentGates([gate], rules.router.table)
        for lane in lanes.ids {
            if case .lane(let name) = gate, name != lanes[lane].settings.name { continue }
            for slot in lanes[lane].slots {
                let (waiting, inFlight) = partitions[slot].unsettled { gates.isEmpty || $0.flatMap(gates.gate) != nil }
                met.waiting += waiting
                met.inFlight += inFlight
            }
        }
        return met
    }

    /// Opens a gate, or ends a question about orders. The deliveries that were set aside return to the front in their order.
    /// A delivery that another gate stops is set aside again.
    ///
    /// - Returns: the number of returned deliveries.
    mutating func resumeStopped() -> Int {
        var count = 0
        for lane in lanes.ids {
            lanes[lane].obey(orders)
            for id in lanes[lane].takeStopped() {
                guard let place = partitions.place(of: id), partitions[place].phase == .delayed else { continue }
                makeReady(place)
                count += 1
            }
        }
        return count
    }
}
