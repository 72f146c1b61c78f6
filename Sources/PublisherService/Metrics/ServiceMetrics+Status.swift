import ByteText
import ControlIO
import KafkaIO
import KafkaModel
import NewsModel
import PublishEngine
import Synchronization

// Combines the reports of all shards into one status.

extension ServiceMetrics {
    /// The complete status at this moment.
    public var status: ServiceStatus {
        let state = state.withLock { $0 }
        let now = clock.now
        let reports = state.reports.compactMap { $0 }
        var tally = Tally(lanes: settings.lanes.count, categories: state.categories.count)
        for report in reports { tally.add(report.tally) }
        let lanes = settings.lanes.indices.map { lane($0, reports, state, at: now) }
        let waits = waits(reports, at: now)
        let tokens = reports.compactMap(\.tokens)
        return ServiceStatus(
            at: now.wall, startedAt: startedAt, lanes: lanes, categories: state.categories, tally: tally,
            halts: Self.halts(reports), limiters: reports.map(\.limiter),
            limitedFor: Limiter.allCases.enumerated().map { index, limiter in
                (limiter, Double(reports.reduce(0) { $0 + $1.limitedFor[index] }) / 1e9)
            },
            inFlight: reports.reduce(0) { $0 + $1.status.inFlight },
            concurrencyLimit: reports.reduce(0) { $0 + $1.status.concurrencyLimit },
            wire: reports.reduce(into: HubWire()) { $0.add($1.wire) },
            tokens: tokens.isEmpty ? nil : tokens.reduce(0, +), rate: state.rate, producer: state.producer,
            kafkaErrors: state.errors,
            lastKafkaError: state.lastError?.failure, restarts: state.restarts, control: state.control,
            held: state.held.map {
                // An event that was requested back is due now.
                .init(events: $0.held, ours: $0.ours, nextDue: $0.nextDue.map { max($0, startedAt) })
            }, heldLost: state.heldLost, keyChanges: state.keyChanges, waits: waits, stopped: Self.stopped(reports),
            notReady: notReady(lanes, reports, waits, state, at: now),
            stuck: state.isDraining ? nil : stuck(lanes, state, at: now))
    }

    private func lane(_ index: Int, _ reports: [ShardReport], _ state: State, at now: Moment) -> ServiceStatus.Lane {
        let id = LaneID(index)
        let assigned = state.assigned.filter { $0.key.lane == id }
        let statuses = reports.map { $0.status.lanes[index] }
        // Nothing is measured without an assignment.
        let lag = assigned.isEmpty ? nil : state.lags[id]
        let oldest = reports.compactMap { $0.oldestBuffered[index] }.min().map { now.wall - $0 }
        // Unread records are at least as old as the first measurement that found them.
        let age = oldest ?? lag?.age(settled: Self.lowWatermarks(reports), at: now.steady)
        return ServiceStatus.Lane(
            name: settings.lanes[index].name, topics: settings.lanes[index].topics,
            partitions: assigned.isEmpty ? nil : assigned.values.reduce(0) { $0 + $1.count },
            isPaused: statuses.contains { $0.isPaused }, isFlooded: statuses.contains { $0.flood != nil },
            buffered: statuses.reduce(0) { $0 + $1.buffered },
            bufferedBytes: statuses.reduce(0) { $0 + $1.bufferedBytes }, window: settings.lanes[index].window,
            ready: statuses.reduce(0) { $0 + $1.ready }, delayed: statuses.reduce(0) { $0 + $1.delayed },
            lag: lag?.records, hidden: lag.map { $0.hidden.values.reduce(0) { $0 + $1.records } },
            removedUnread: state.removedUnread[id]?.total ?? 0, consumer: state.consumers[id],
            lagAge: lag.flatMap { _ in age.map { max(.zero, $0) } })
    }

    /// Combines waits of several shards with the same reason into one, with the longest duration.
    private func waits(_ reports: [ShardReport], at now: Moment) -> [ServiceStatus.Waiting] {
        var waits: [ServiceStatus.Waiting] = []
        for wait in reports.flatMap(\.status.waits) {
            let lane = wait.lane.map { settings.lanes[$0.index].name }
            let duration = max(.zero, now.steady - wait.since)
            if let known = waits.firstIndex(where: { $0.lane == lane && $0.reason == wait.reason }) {
                waits[known].duration = max(waits[known].duration, duration)
            } else {
                waits.append(.init(lane: lane, reason: wait.reason, duration: duration, detail: wait.detail))
            }
        }
        return waits
    }

    /// Each partition belongs to one shard.
    private static func lowWatermarks(_ reports: [ShardReport]) -> [TopicPartition: Int64] {
        reports.reduce(into: [:]) { $0.merge($1.lowWatermarks) { $1 } }
    }

    private static func stopped(_ reports: [ShardReport]) -> [StoppedNews] {
        var all: [StoppedNews] = []
        for news in reports.flatMap(\.stopped) {
            if let known = all.firstIndex(where: { $0.gate == news.gate }) {
                all[known].add(news)
            } else {
                all.append(news)
            }
        }
        return all
    }

    private static func halts(_ reports: [ShardReport]) -> [Halt] {
        var halts: [Halt] = []
        let all = reports.flatMap { report in
            ([report.status.halt] + report.status.lanes.map(\.flood)).compactMap(\.self)
        }
        for halt in all.sorted(by: { $0.since < $1.since })
        where !halts.contains(where: { $0.reason == halt.reason && $0.detail == halt.detail }) {
            halts.append(halt)
        }
        return halts
    }

    /// The open transactions that hide a lane's records.
    private func openTransactions(_ state: State, at now: Instant) -> [ReadinessReason] {
        settings.lanes.enumerated().compactMap { index, lane in
            let hidden = state.lags[LaneID(index)]?.hidden(for: Self.normalTransaction, at: now) ?? []
            guard let first = hidden.first else { return nil }
            let records = hidden.reduce(0) { $0 + $1.1.records }
            let seconds = hidden.map { (now - $0.1.since).components.seconds }.max() ?? 0
            let more = hidden.count > 1 ? " and \(counted(hidden.count - 1, "more partition"))" : ""
            return .init(
                .openTransaction,
                "lane \(lane.name): a transaction on \(first.partition) at offset \(first.1.from)\(more) has been open for "
                    + "\(seconds) s or more and hides \(counted(records, "record"))",
                remedy:
                    "its producer must commit or abort it; kafka-transactions.sh find-hanging finds one that nobody ends, and "
                    + "abort ends it", lane: lane.name)
        }
    }

    /// The longest normal transaction. A longer one is a reason for not being ready.
    private static let normalTransaction = Duration.seconds(10)

    /// The longest normal wait. A longer one is a reason for not being ready.
    static let normalWait = Duration.seconds(5)

    private func notReady(
        _ lanes: [ServiceStatus.Lane], _ reports: [ShardReport], _ waits: [ServiceStatus.Waiting], _ state: State,
        at now: Moment
    ) -> [ReadinessReason] {
        var reasons: [ReadinessReason] = []
        if let failure = kafkaLogin.problem { reasons.append(.init(kafkaToken: failure)) }
        if let obstacle = state.obstacle { return reasons.isEmpty ? [obstacle.notReady] : reasons }
        if state.isDraining { reasons.append(.init(.shuttingDown, "shutting down", remedy: "")) }
        for (index, lane) in lanes.enumerated() where lane.partitions == nil {
            // A rebalance takes a moment, so that a short gap is normal.
            if let revokedAt = state.revokedAt[LaneID(index)], now.steady - revokedAt <= Self.normalWait { continue }
            let isMissing = waits.contains {
                $0.lane == lane.name && $0.reason == .missingTopic && $0.duration > Self.normalWait
            }
            if isMissing { continue }
            reasons.append(
                .init(
                    .notAssigned, "lane \(lane.name): no partitions assigned yet",
                    remedy:
                        "joining takes some seconds; should it last, check the brokers and this machine's way to them",
                    lane: lane.name))
        }
        for halt in Self.halts(reports) {
            let subject = halt.reason == .flood ? halt.detail : "hub: \(halt.reason.rawValue): \(halt.detail)"
            reasons.append(
                .init(
                    ReadinessCode(halt.reason), subject, remedy: halt.remedy, lane: halt.lane))
        }
        if let finding = reports.compactMap(\.status.clock).first { reasons.append(.clock(finding)) }
        if let control = state.control { reasons += control.notReady(controlTopics) }
        reasons += state.heldTopic.notReady(
            state.held, topic: controlTopics.held, patience: Self.normalWait, at: now.steady)
        if let since = state.deadLettersMissingSince, now.steady - since > Self.normalWait {
            reasons.append(
                .init(
                    .missingTopic,
                    "the topic of dead letters \(TopicRules.isMissing): an event that fails would hold back its "
                        + "partition",
                    remedy: TopicRules.missingRemedy))
        }
        reasons += openTransactions(state, at: now.steady)
        for (index, lane) in lanes.enumerated() {
            reasons += [
                state.quotaDelays[LaneID(index)]?.notReady(lane: lane.name, at: now.steady),
                state.removedUnread[LaneID(index)]?.notReady(lane: lane.name, at: now.steady),
            ].compactMap(\.self)
        }
        for (index, lane) in settings.lanes.enumerated() {
            let ages = reports.compactMap {
                $0.status.lanes.indices.contains(index) ? $0.status.lanes[index].ageOnArrival : nil
            }
            if let age = ages.max() { reasons.append(.oldOnArrival(age, lane)) }
        }
        for reason in state.refused {
            reasons.append(
                .init(
                    .recordsRefused,
                    "topic \(reason.topic) does not take \(ByteText.counted(reason.records, "record")): "
                        + reason.failure.detail,
                    remedy: reason.failure.remedy))
        }
        for wait in reports.flatMap(\.status.waits)
        where wait.isAlarming && wait.reason != .halt && wait.reason != .flood
            // A stop order is shown at once, so that the editor sees when it takes effect.
            && (wait.reason == .stopped || now.steady - wait.since > Self.normalWait)
        {
            let lane = wait.lane.map { settings.lanes[$0.index].name }
            let found = ReadinessReason(
                code: wait.reason.rawValue, detail: lane.map { "lane \($0): \(wait.detail)" } ?? wait.detail,
                remedy: wait.remedy, lane: lane)
            if !reasons.contains(where: { $0.code == found.code && $0.lane == lane }) { reasons.append(found) }
        }
        for found in unreadable(state)
        where !reasons.contains(where: { $0.code == found.code && $0.lane == found.lane }) {
            reasons.append(found)
        }
        return reasons
    }

    /// The lanes with partitions that cannot be read, most often for lack of rights.
    private func unreadable(_ state: State) -> [ReadinessReason] {
        settings.lanes.enumerated().compactMap { index, lane in
            let failures = state.unreadable[LaneID(index)] ?? [:]
            guard let first = failures.min(by: { $0.key < $1.key })?.value else { return nil }
            let more = failures.count > 1 ? "; the same for \(counted(failures.count - 1, "more partition"))" : ""
            return .init(
                .missingTopic,
                "lane \(lane.name): \(first.detail.prefix(1).lowercased())\(first.detail.dropFirst())\(more)",
                remedy: first.remedy.isEmpty ? "look at the brokers" : first.remedyClause, lane: lane.name)
        }
    }

    private func stuck(_ lanes: [ServiceStatus.Lane], _ state: State, at now: Moment) -> String? {
        let reports = state.reports.enumerated().compactMap { shard, report in report.map { (shard, $0) } }
        let waiting = lanes.enumerated().compactMap { index, lane in
            // A restart would not help against a quota, or a broker that refuses to let us read.
            let isDelayed = state.quotaDelays[LaneID(index)]?.lasts(at: now.steady) ?? false
            let refused = Set((state.unreadable[LaneID(index)] ?? [:]).keys)
            return lane.buffered == 0 && !lane.isPaused && (lane.partitions ?? 0) > 0 && !isDelayed
                ? state.lags[LaneID(index)]?.readableSince(without: refused) : nil
        }
        return health.stuck(reports, errorAt: state.lastError?.at, waitingSince: waiting.min(), at: now.steady)
    }
}

extension ReadinessReason {
    /// The hub's or the brokers' clock differs from this machine's.
    fileprivate static func clock(_ finding: ClockWitnesses.Finding) -> ReadinessReason {
        .init(
            .clock, finding.text,
            remedy: "set this machine's clock (timedatectl, chronyc tracking), or that of the others")
    }
}

extension ReadinessReason {
    fileprivate static func oldOnArrival(_ age: Duration, _ lane: LaneSettings) -> ReadinessReason {
        let maxAge = lane.maxAge.map { " of \($0.components.seconds) s" } ?? ""
        return .init(
            .oldOnArrival,
            "lane \(lane.name): the last records were \(ByteText.grouped(Int(clamping: age.components.seconds))) s old "
                + "when they were appended, older than the lane's maxAge\(maxAge), so all of them expired",
            remedy:
                "set the clock of the machine that writes them (newswire ingest, newswire publish, or the newsroom's system); "
                + "if it is right, find out what delays them on their way to Kafka",
            lane: lane.name)
    }
}

extension ClockWitnesses.Finding {
    /// A sentence for people.
    var text: String {
        let seconds = difference.components.seconds
        let amount = "\(ByteText.grouped(Int(seconds.magnitude))) s \(seconds < 0 ? "behind" : "ahead of")"
        return switch witness {
        case .hub: "this machine's clock is \(amount) the hub's, by the Date of its replies"
        case .records: "this machine's clock is \(amount) the times of records that were just read"
        case .both:
            "this machine's clock is \(amount) the hub's, and records that were just read agree with the hub: "
                + "until it is set, events expire by their time"
        case .missing: "the hub's replies have no Date, so nothing shows that this machine's clock is right"
        }
    }
}
