import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// A process does not send an older version of a story if its own work or the ledger shows that a newer one was accepted. No
/// process sends a returned older version while the results topic keeps the newer one's result. A process that has read a withheld
/// version sends no older version afterwards. Without versions, a copy of what was published is older than what was published behind
/// its original on the same partition, also if that partition was created again between the two. Versions for single readers are
/// compared with those that the same process sent to one of these readers, and events without versions only if they are for the same
/// readers. Checked only if the duplicate window covers the whole life.
struct NewestVersion: Checker {
    let promise = Promise.newestVersion
    /// Accepted deliveries with their versions, by story.
    private var accepted: [GroundTruth.Story: [(version: Int, delivery: Int)]] = [:]
    /// Versions that are withheld because of their status, by story.
    private var withheld: [GroundTruth.Story: [(version: Int, delivery: Int, ownership: Int?)]] = [:]

    /// Deliveries that ended as withheld, expired or accepted, by story.
    private var ended: [GroundTruth.Story: [Int]] = [:]
    /// Deliveries that ended as held, with their owners, by story.
    private var held: [GroundTruth.Story: [(delivery: Int, ownership: Int?)]] = [:]
    /// Each process's knowledge of partitions that were created again, and of held events that were published before.
    private var former: [Address: Former] = [:]

    private struct Former {
        var incarnations: [TopicPartition: Int] = [:]
        var held: Set<ResultRecord.Source> = []
        /// Accepted events, with the held events that were known then.
        var accepted: [(delivery: Int, at: Instant, ownership: Int?, held: Set<ResultRecord.Source>)] = []
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if case .settled(let delivery, _, let result, _) = fact, endsOlder(delivery, result, truth) {
            ended[truth.story(of: delivery), default: []].append(delivery)
        }
        if case .settled(let delivery, let ownership, let result, _) = fact, result.outcome == .held {
            held[truth.story(of: delivery), default: []].append((delivery, ownership))
        }
        noteFormer(fact)
        if let problem = followsAnew(fact, truth) { return problem }
        guard truth.scenario.setting.engine.duplicateWindow >= 1024 else { return nil }
        switch fact {
        case .settled(let delivery, _, let result, _) where result.outcome == .accepted:
            guard let version = truth.news(of: delivery).version else { return nil }
            accepted[truth.story(of: delivery), default: []].append((version, delivery))
        case .settled(let delivery, let ownership, let result, _)
        where result.outcome == .withheld && result.error?.code == "withheld":
            guard let version = truth.news(of: delivery).version else { return nil }
            withheld[truth.story(of: delivery), default: []].append((version, delivery, ownership))
        case .sent(let number, _, _):
            let attempt = truth.attempts[number]
            guard attempt.ownership >= 0 else { return nil }
            if let problem = overtaken(attempt, truth) { return problem }
            guard let version = truth.news(of: attempt.delivery).version else { return nil }
            for newer in withheld[truth.story(of: attempt.delivery)] ?? []
            where newer.version > version && newer.ownership == attempt.ownership
                && truth.news(of: newer.delivery).sharesReaders(with: truth.news(of: attempt.delivery))
            {
                return "\(truth.name(attempt.delivery)) was sent after \(truth.name(newer.delivery)) had been withheld"
            }
            let news = truth.news(of: attempt.delivery)
            for newer in accepted[truth.story(of: attempt.delivery)] ?? []
            where newer.version > version && truth.news(of: newer.delivery).sharesReaders(with: news) {
                let owner = truth.ownerships[attempt.ownership]
                let isKnown = truth.resultsOf[newer.delivery].contains {
                    $0.outcome == .accepted
                        // The ledger does not name single readers, so another owner does not know their versions.
                        && (news.isPersonal
                            ? $0.ownership == attempt.ownership
                            : news.isReturned && truth.isKept($0) && !owner.isLate($0)
                                || owner.hasSeen($0, as: attempt.ownership))
                }
                if isKnown { return "\(truth.name(attempt.delivery)) was sent after \(truth.name(newer.delivery))" }
            }
        default: break
        }
        return nil
    }

    private mutating func noteFormer(_ fact: Fact) {
        switch fact {
        case .input(let address, .kafka(.restarted(_, _, let partition, let incarnation))):
            former[address, default: Former()].incarnations[partition] = incarnation
        case .input(let address, .kafka(.restored(_, _, _, _, let end?))):
            for (partition, incarnation) in end.incarnations {
                former[address, default: Former()].incarnations[partition] = incarnation
            }
        case .input(let address, .held(let stories)):
            for story in stories where story.isHeld {
                if let source = story.source { former[address, default: Former()].held.insert(source) }
            }
        case .settled(let delivery, let ownership, let result, let address) where result.outcome == .accepted:
            let held = former[address]?.held ?? []
            former[address, default: Former()].accepted.append((delivery, result.settledAt, ownership, held))
        default: break
        }
    }

    /// A process returns a held event of a former incarnation as due although it has accepted a later event of the story.
    private func followsAnew(_ fact: Fact, _ truth: GroundTruth) -> String? {
        guard case .returned(_, let original, let event, .due, let address, let wall) = fact,
            let known = former[address], event.incarnation < known.incarnations[event.source.partition] ?? 0,
            truth.news[original].copy == nil, truth.news[original].version == nil,
            truth.places[original]?.isGone == true
        else { return nil }
        let stories = Set(truth.deliveries(of: original).map { truth.story(of: $0) })
        for later in known.accepted
        where stories.contains(truth.story(of: later.delivery))
            // The owner compares held events that are read later with its own accepted ones.
            && (later.held.contains(event.source)
                || later.ownership.map { truth.ownerships[$0].end == nil } ?? false
                    && truth.scenario.setting.engine.duplicateWindow >= 1024)
            // A return may be under way for some time.
            && later.at + .seconds(30) < wall && truth.news(of: later.delivery).copy == nil
            && truth.news(of: later.delivery).hasSameReaders(as: truth.news[original])
            && isPublishedLater(truth.item(of: later.delivery), than: original, truth)
            && truth.news[original].record.isEarlier(than: truth.news(of: later.delivery).record)
        {
            return "\(event.source) of a former incarnation is due after \(truth.name(later.delivery))"
        }
        return nil
    }

    /// Returns true for an event that stands on its topic and was published after another one. A partition that was cut back keeps
    /// events that were published before.
    private func isPublishedLater(_ item: Int, than original: Int, _ truth: GroundTruth) -> Bool {
        guard let place = truth.places[item], let former = truth.places[original] else { return false }
        return !place.isGone && place.publishedAt >= former.publishedAt
    }

    private func endsOlder(_ delivery: Int, _ result: ResultRecord, _ truth: GroundTruth) -> Bool {
        guard truth.news(of: delivery).copy == nil else { return false }
        return switch result.outcome {
        case .accepted, .expired: true
        case .withheld: result.error?.code == "withheld"
        default: false
        }
    }

    /// A copy from the held topic is sent although its process knows that a later event of the story on the original's partition has
    /// ended.
    private func overtaken(_ attempt: Attempt, _ truth: GroundTruth) -> String? {
        let news = truth.news(of: attempt.delivery)
        guard news.copy == .restored || news.copy == .returned(.due),
            let original = truth.item(serial: news.serial % GroundTruth.returnSerials),
            // An operator's redrive is not compared with what was published.
            truth.news[original].copy == nil || truth.news[original].copy == .republished,
            let place = truth.places[original], !place.isGone
        else { return nil }
        for later in ended[truth.story(of: attempt.delivery)] ?? [] {
            guard let other = truth.places[truth.item(of: later)], !other.isGone, other.partition == place.partition,
                other.offset > place.offset, news.version == nil || truth.news(of: later).version == nil,
                news.hasSameReaders(as: truth.news(of: later)),
                truth.resultsOf[later].contains(where: {
                    // A record that was read again, or is in its topic again, may also have ended as a duplicate or superseded.
                    [.accepted, .expired, .withheld].contains($0.outcome)
                        && ($0.ownership == attempt.ownership || isOnLedger($0, of: later, original, attempt, truth))
                })
            else { continue }
            return "\(truth.name(attempt.delivery)) was sent after \(truth.name(later)), published behind its original"
        }
        for later in held[truth.story(of: attempt.delivery)] ?? []
        where news.copy == .restored && later.ownership == attempt.ownership {
            guard let other = truth.places[truth.item(of: later.delivery)], !other.isGone,
                let copy = truth.places[truth.item(of: attempt.delivery)], other.partition == place.partition,
                place.offset < other.offset, other.offset < copy.offset,
                news.hasSameReaders(as: truth.news(of: later.delivery)),
                news.version == nil || truth.news(of: later.delivery).version == nil
            else { continue }
            let name = truth.name(later.delivery)
            return "\(truth.name(attempt.delivery)) was sent although \(name), published later, is held"
        }
        return nil
    }

    /// Returns true if the process knows from the ledger that the delivery ended after the original had been held.
    private func isOnLedger(
        _ end: GroundTruth.StoredResult, of later: Int, _ original: Int, _ attempt: Attempt, _ truth: GroundTruth
    ) -> Bool {
        // After a crash, the copy is read again before what follows it. The ledger does not tell if a version that left was a copy
        // itself.
        guard !truth.news(of: attempt.delivery).isPersonal, let copy = truth.places[truth.item(of: attempt.delivery)],
            let other = truth.places[truth.item(of: later)],
            other.offset < copy.offset, truth.news(of: later).version == nil || end.outcome != .accepted,
            truth.ownerships[attempt.ownership].hasSeen(end, as: attempt.ownership)
        else { return false }
        // It is held again if its topic was created again and has it once more.
        let held = truth.deliveries(of: original).flatMap { truth.resultsOf[$0] }
            .filter { $0.outcome == .held && $0.partition == end.partition }
        return held.map(\.offset).max().map { $0 < end.offset } ?? false
    }
}

extension GroundTruth {
    /// Returns true if the result is still on the results topic.
    func isKept(_ result: StoredResult) -> Bool {
        ledger[result.partition].map { result.offset >= $0.start } ?? false
    }
}

extension SourceRecord {
    /// Compares timestamps. Those that are missing, or more than a month apart, tell nothing.
    func isEarlier(than later: SourceRecord) -> Bool {
        guard let timestamp, let limit = later.timestamp else { return false }
        return timestamp < limit && timestamp > limit - .seconds(31 * 24 * 3_600)
    }
}
