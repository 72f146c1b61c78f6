import ByteText
import EditorialControl
public import KafkaModel
public import NewsModel

/// A reason why work of a lane does not move, for `/readyz`, metrics and people. All work that waits longer than a few
/// seconds has one.
public struct Wait: Sendable, Hashable {
    /// The lane; `nil` for all lanes.
    public var lane: LaneID?
    public var reason: Reason
    /// The start of the wait, by the monotonic clock.
    public var since: Instant
    /// A sentence for people; never contains a headline.
    public var detail: String
    /// The step for a person to take; may be empty.
    public var remedy: String
    /// The lane cannot read further records meanwhile. Only set for `embargo`.
    public var blocksReading = false

    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The ledger of a partition is being read, or cannot be read.
        case ledger
        /// The partition counts were not read since the assignment, so our share of the rate is unknown.
        case partitionCounts = "partition-counts"
        /// A topic of the lane does not exist.
        case missingTopic = "missing-topic"
        /// Topics of one lane differ in length.
        case unequalTopics = "unequal-topics"
        /// Sending has stopped for the hub or the key.
        case halt
        /// Most recent events of the lane failed for their own fault.
        case flood
        case paused
        /// Editors have stopped the lane or its events.
        case stopped
        /// Editors' orders are not known, or an order does not get onto the control topic.
        case control
        /// The process stood still, and the effects are not known yet.
        case standstill
        /// Every request has failed for some time.
        case hubFailing = "hub-failing"
        /// The hub asked everyone to stay away.
        case hubPause = "hub-pause"
        case rate
        case concurrency
        /// Requests wait for the hub's answers, or the next send of an event for a commit.
        case reply
        case retry
        case embargo
        /// The schema registry has not answered.
        case schema
        /// Events that our clock alone would expire or release wait until the hub has told the time.
        case time
        /// The broker has not acknowledged dead letters.
        case deadLetters = "dead-letters"
        /// The broker has not acknowledged events for the held topic.
        case heldTopic = "held-topic"
        /// The broker has not acknowledged results.
        case results
        /// The broker refuses commits.
        case commit
        /// Partitions are being revoked.
        case revoke
        /// A topic was recreated; records of the former topic are finished first.
        case newIncarnation = "new-incarnation"
        case shutdown
    }

    /// The reason breaks a promise of the service, so the service is not ready.
    public var isAlarming: Bool {
        switch reason {
        case .ledger, .partitionCounts, .missingTopic, .unequalTopics, .halt, .flood, .stopped, .control, .standstill,
            .hubFailing,
            .hubPause, .schema, .time, .deadLetters, .heldTopic, .results, .commit, .newIncarnation:
            true
        case .embargo: blocksReading
        case .paused, .rate, .concurrency, .reply, .retry, .revoke, .shutdown: false
        }
    }
}

extension Engine {
    /// All reasons that keep work waiting, lane by lane.
    public func waits(at moment: Moment) -> [Wait] {
        var waits: [Wait] = []
        for lane in lanes {
            func add(_ reason: Wait.Reason, _ since: Instant, _ detail: String, _ remedy: String = "") {
                waits.append(Wait(lane: lane.id, reason: reason, since: since, detail: detail, remedy: remedy))
            }
            addKafkaWaits(lane, moment, add)
            if lane.isPaused { add(.paused, moment.steady, "an operator paused it") }
            addStops(lane, moment, add)
            if let flood = lane.flood { add(.flood, flood.since, flood.detail, flood.remedy) }
            if let handover = lane.owned.handover {
                add(.revoke, handover.deadline - settings.revokeDeadline, "partitions are being given up")
            }
            if lane.owned.commit.isAwaited {
                add(.reply, moment.steady, "the next send of an event waits until the end of the last one is committed")
            }
            if let next = lane.delayed.nextRetry {
                add(.retry, moment.steady, "the next retry is due in \((next - moment.steady).seconds) s")
            }
            if lane.delayed.hasEmbargoes { waits.append(embargoWait(lane, moment)) }
            if let timeAwaitedSince, !lane.unexamined.isEmpty || lane.delayed.count > 0 {
                add(
                    .time, timeAwaitedSince,
                    "the hub has not told its time, so nothing expires and no embargo ends by this machine's clock alone",
                    "check the hub and the network path to it")
            }
            if let (id, since) = lane.awaitedSchema {
                add(
                    .schema, since,
                    "schema \(id) is not here: \(registryFailure ?? "the schema registry has not answered")",
                    "check schemaRegistry.url and the registry; nothing is lost meanwhile")
            }
            addSendingWaits(lane, moment, add)
        }
        if let since = orders.unknownSince {
            waits.append(
                Wait(
                    lane: nil, reason: .control, since: max(since, moment.steady - .seconds(86_400)),
                    detail: "editors' orders are not known, so nothing is sent",
                    remedy: "check that the control topic can be read: newswire check --config FILE"))
        }
        if let since = replacements.askedAt, moment.steady - since >= .seconds(2) {
            waits.append(
                Wait(
                    lane: nil, reason: .control, since: since,
                    detail: "a story's replacement waits, because it is not known if its recall is in force",
                    remedy: "check that the control topic can be read: newswire check --config FILE"))
        }
        if let standstill { waits.append(wait(for: standstill)) }
        if !isRunning {
            waits.append(Wait(lane: nil, reason: .shutdown, since: moment.steady, detail: "shutting down", remedy: ""))
        }
        return waits
    }

    /// The wait for embargoes. It lasts since the last record was read if the events under embargo block reading.
    private func embargoWait(_ lane: Lane, _ moment: Moment) -> Wait {
        var wait = Wait(
            lane: lane.id, reason: .embargo, since: moment.steady, detail: "events are under embargo", remedy: "")
        let isFull = lane.isWindowFull
        guard isFull || lane.owned.hasPausedPartitions else { return wait }
        let (records, first) = underEmbargo(lane)
        var blocked = lane.slots.filter { partitions[$0].isPaused && first.contains($0) }
        // If most of the window is otherwise filled, another wait is the reason.
        if isFull, records.count * 2 >= lane.bufferedRecords { blocked = lane.slots }
        guard let readAt = blocked.compactMap({ partitions[$0].entries.last?.readAt }).max() else { return wait }
        let name = lane.settings.name
        wait.since = moment.steady - max(moment.wall - readAt, .zero)
        wait.detail =
            "\(counted(records.count, "event")) under embargo fill the window, so later news is not read"
        wait.remedy =
            "create the held topic (held.topic) or raise its max.message.bytes, so that such events wait there: newswire topics "
            + "--create --config FILE; or raise lanes.\(name).window"
        wait.blocksReading = true
        return wait
    }

    /// The records that wait for the end of an embargo, by their first delivery, and the slots whose first record is one of them.
    private func underEmbargo(_ lane: Lane) -> (records: Set<DeliveryID>, first: Set<Int>) {
        var records: Set<DeliveryID> = []
        var first: Set<Int> = []
        for id in lane.delayed.underEmbargo {
            guard let head = partitions.place(of: id), partitions[head].phase == .delayed else { continue }
            for id in openDeliveries(of: partitions[head].story) {
                guard let place = partitions.place(of: id) else { continue }
                records.insert(id.on(0))
                if place.index == 0 { first.insert(place.slot) }
            }
        }
        return (records, first)
    }

    private func wait(for standstill: Standstill) -> Wait {
        let unknown =
            standstill.areOrdersKnown
            ? "whether its partitions are still its own"
            : "which orders are in force"
        return Wait(
            lane: nil, reason: .standstill, since: standstill.since,
            detail: "the process stood still for seconds and is finding out \(unknown)",
            remedy: "check that the brokers and the control topic can be reached: newswire check --config FILE")
    }

    private func addKafkaWaits(
        _ lane: Lane, _ moment: Moment, _ add: (Wait.Reason, Instant, String, String) -> Void
    ) {
        var restoring: (since: Instant, failure: KafkaFailure?, partitions: [TopicPartition])?
        var isInParts = false
        var unstored: Instant?
        for slot in lane.slots {
            if let reading = partitions[slot].ledgerReading {
                var all = restoring ?? (reading.since, nil, [])
                all.since = min(all.since, reading.since)
                all.failure = all.failure ?? reading.failure
                all.partitions.append(partitions[slot].id)
                restoring = all
                if partitions[slot].restored.reading != nil { isInParts = true }
            }
            if case .finishing(let since) = partitions[slot].phase {
                add(
                    .newIncarnation, since,
                    "\(partitions[slot].id) was created again, and is read when the "
                        + "\(counted(partitions[slot].entries.count, "event")) read before have ended",
                    "if they wait for the end of an embargo or of a stop, end it")
            }
            if partitions[slot].unstored > 0 { unstored = min(unstored ?? .distantFuture, partitions[slot].storedAt) }
        }
        if let restoring {
            let names = restoring.partitions.prefix(8).map(\.description).joined(separator: ", ")
            let more = restoring.partitions.count > 8 ? " and \(restoring.partitions.count - 8) more" : ""
            let reason = restoring.failure.map { ": \($0.detail)" } ?? ""
            let parts = isInParts ? " part by part, because there are many" : ""
            add(
                .ledger, restoring.since, "the results for \(names)\(more) are being read\(parts)\(reason)",
                restoring.failure?.remedy ?? "")
        }
        let name = lane.settings.name
        if !knowsItsShare, !lane.slots.isEmpty {
            add(
                .partitionCounts, lane.counts.assignedAt,
                "the partition counts of lane \(name) are not known yet",
                "check that the brokers answer")
        }
        if !lane.counts.missing.isEmpty {
            let topics = lane.counts.missing.joined(separator: ", ")
            add(
                .missingTopic, lane.counts.missingSince,
                "the topic \(topics) \(TopicRules.isMissing)", TopicRules.missingRemedy)
        }
        if let since = lane.counts.unequalSince {
            add(
                .unequalTopics, since, "the topics of lane \(name) differ in length",
                "give all topics of the lane the same number of partitions: newswire topics --create --config FILE")
        }
        if let unstored {
            let reason = pendingResults.reason { partitions[$0.slot].lane == lane.id } ?? .results
            let records =
                switch reason {
                case .deadLetters: "dead letters"
                case .heldTopic: "events for the held topic"
                case .control: "the recall that an event gives"
                default: "results"
                }
            add(
                reason, unstored, "the broker has not acknowledged \(records)", "look at the brokers and at the topic")
        }
        if let failing = lane.owned.commit.failing {
            add(
                .commit, failing.since, "offsets cannot be committed: \(failing.failure.detail)", failing.failure.remedy
            )
        }
    }

    private func addStops(
        _ lane: Lane, _ moment: Moment, _ add: (Wait.Reason, Instant, String, String) -> Void
    ) {
        let name = lane.settings.name
        let waiting = stoppedCount(of: lane)
        // A stop of everything must not hide behind eight stops of parts.
        let (whole, parts) = orders.standing.stopped.reduce(into: ([Gate](), [Gate]())) { closed, gate in
            switch gate {
            case .hub: closed.0.insert(gate, at: 0)
            case .lane(let stopped): if stopped == name { closed.0.append(gate) }
            case .category, .interest, .feed, .run: if waiting > 0 { closed.1.append(gate) }
            }
        }
        let closed = whole + parts
        guard let gate = closed.first else { return }
        let since = closed.compactMap { orders.standing[.stop($0)]?.at }.min().map { moment.wall - $0 } ?? .zero
        let gates = closed.prefix(8).map(\.word).joined(separator: ", ")
        let more = closed.count > 8 ? " and \(closed.count - 8) more" : ""
        let detail = waiting > 0 ? "; \(counted(waiting, "notification")) at the front" : ""
        add(
            .stopped, moment.steady - max(since, .zero), "stopped by editors: \(gates)\(more)\(detail)",
            "newswire resume --config FILE \(gate.word)")
    }

    private func addSendingWaits(
        _ lane: Lane, _ moment: Moment, _ add: (Wait.Reason, Instant, String, String) -> Void
    ) {
        if let halt, halt.reason != .flood {
            add(.halt, halt.since, "\(halt.reason.rawValue): \(halt.detail)", halt.remedy)
        }
        if let hubFailure, halt == nil, lane.delayed.retryCount + lane.ready.count > 0 {
            add(
                .hubFailing, hubFailure.since, "the hub accepts nothing: \(hubFailure.detail)",
                "check the hub and the network path to it; events are retried until their deadlines")
        }
        if moment.steady < hubPause.until {
            let left = (hubPause.until - moment.steady).seconds
            add(.hubPause, hubPause.since, "the hub asked to wait; sending continues in \(left) s", "")
        }
        let requests = inFlight.all.filter { request in
            partitions.place(of: request.delivery)?.lane == lane.id
        }
        if let oldest = requests.map(\.sentAt).min() {
            add(.reply, oldest, "waiting for the hub's answer to \(counted(requests.count, "request"))", "")
        }
        guard !lane.ready.isEmpty else { return }
        if inFlight.count >= concurrency.limit {
            add(.concurrency, moment.steady, "as many requests are in flight as the hub can bear", "")
        } else if paceAt != nil {
            add(.rate, moment.steady, "the configured rate is used up, or belongs to more urgent lanes", "")
        }
    }
}

extension Duration {
    fileprivate var seconds: Int64 { max(0, nanoseconds / 1_000_000_000) }
}
