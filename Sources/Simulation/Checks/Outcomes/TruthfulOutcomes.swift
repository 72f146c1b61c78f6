import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// An outcome never claims more than is known. `accepted`: the hub accepted it, for all of its readers. Certain failures: the hub did not accept it.
/// `unknown`: an attempt has no answer, or only some of its sends were accepted. `superseded`: another event is sent in its place.
struct TruthfulOutcomes: Checker {
    let promise = Promise.truthfulOutcomes
    /// Offsets below which an operator released the waiting events, by process.
    private var released: [Address: [TopicPartition: Int64]] = [:]
    /// The last number of each partition's incarnation.
    private var incarnations: [TopicPartition: Int] = [:]
    /// Copies of held events that have or had a former number. It may be the same incarnation, if no offset was committed between
    /// the two. An event that was held again has a new number, but may be requested back because of its former one.
    private var formerCopies: Set<Int> = []
    /// The lowest number with which each event was held, by its source.
    private var heldAs: [ResultRecord.Source: Int] = [:]
    /// Superseded copies without a rival, by their originals. The same step of the engine must hold the original again.
    private var unexplained: [Int: String] = [:]

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .input(let address, .release(_, .deadLetter, let ends)):
            released[address, default: [:]].merge(ends) { max($0, $1) }
            return nil
        case .input(_, .kafka(.restarted(_, _, let partition, let incarnation))):
            incarnations[partition] = incarnation
            return nil
        case .input(_, .kafka(.restored(_, _, _, _, let end?))):
            incarnations.merge(end.incarnations) { max($0, $1) }
            return nil
        case .input(_, .held(let stories)):
            for story in stories where story.isHeld {
                if let source = story.source { heldAs[source] = min(story.incarnation, heldAs[source] ?? .max) }
            }
            return nil
        case .returned(let item, _, let event, .superseded, _, _):
            let number = min(event.incarnation, heldAs[event.source] ?? .max)
            if number < incarnations[event.source.partition] ?? 0 { formerCopies.insert(item) }
            return nil
        case .holding(let delivery, _, _, _):
            unexplained[truth.item(of: delivery)] = nil
            return nil
        case .acted: return unexplained.values.first
        case .deadLettered(let delivery, let ownership, let result, let address):
            let end = released[address]?[result.source.partition] ?? 0
            if result.error?.code == "released", result.source.offset >= end {
                return "\(truth.name(delivery)) was given up, though nobody had said so"
            }
            return check(result, of: delivery, ownership, truth)
        case .settled(let delivery, let ownership, let result, _):
            return check(result, of: delivery, ownership, truth)
        default: return nil
        }
    }

    private mutating func check(
        _ result: ResultRecord, of delivery: Int, _ ownership: Int?, _ truth: GroundTruth
    ) -> String? {
        let all = truth.attemptsOf[delivery].map { truth.attempts[$0] }.filter(\.hasLeft)
        let own = all.filter { $0.ownership == ownership }
        let sends = truth.news(of: delivery).sends
        let name = truth.name(delivery)
        // The sends of former owners, after which this one went on.
        let resumed = result.attempts - own.count
        let earlier = sends > 1 ? truth.sends(of: delivery, byOthersThan: ownership) : []
        guard 0...earlier.count ~= resumed else {
            return "\(name) reports \(result.attempts) attempts; there were \(own.count)"
        }
        let wasAccepted = resumed > 0 || own.contains(where: \.isAccepted)
        let isUnanswered = own.contains(where: \.isUnanswered)
        let inherited = earlier.filter { $0.isAccepted || $0.isRefused }.prefix(resumed).filter(\.isAccepted)
        let acceptedSends = Set(
            (inherited + own.filter { $0.reply?.meaning == .accepted }).map(\.tags)
        ).count
        switch result.outcome {
        case .accepted:
            if !wasAccepted { return "\(name) is accepted, but the hub never took it" }
            if acceptedSends != sends || result.sends != (sends > 1 ? sends : 0) {
                return "\(name) is accepted with \(result.sends) sends, but the hub took \(acceptedSends) of \(sends)"
            }
        case .rejected:
            if wasAccepted { return "\(name) is rejected, but the hub took it" }
            guard case .replied(let reply)? = own.last?.reply, reply.status == 400 else {
                return "\(name) is rejected, but the hub did not refuse it"
            }
        case .exhausted, .expired, .canceled, .superseded:
            if wasAccepted { return "\(name) is \(result.outcome.rawValue), but the hub took it" }
            if isUnanswered { return "\(name) is \(result.outcome.rawValue), but an attempt was not answered" }
        // Quiet hours that drop or delay news may begin while a refused alert waits for its next attempt. It is on no phone.
        case .withheld where result.error?.code == "quiet-hours", .held:
            if wasAccepted { return "\(name) is \(result.outcome.rawValue), but the hub took it" }
            if isUnanswered { return "\(name) is \(result.outcome.rawValue), but an attempt was not answered" }
        case .undecodable, .unroutable, .withheld, .duplicate:
            if !own.isEmpty { return "\(name) is \(result.outcome.rawValue), but a request left" }
        case .unknown:
            // The hub may have refused a send that it had accepted from a former owner, which died before its reply.
            let isRefused = acceptedSends > 0 && all.contains(where: \.isRefused)
            // A former owner may have given a send up that had no answer, and passed it on as one that had failed.
            let isPassedOn = resumed > 0 && all.contains(where: \.isUnanswered)
            if !isUnanswered, !isRefused, !isPassedOn, !(0..<sends).dropFirst().contains(acceptedSends) {
                return "\(name) is unknown, but every attempt was answered"
            }
        }
        if result.outcome == .superseded, !hasRival(delivery, truth) {
            let sentence = "\(name) is superseded, but its story has no newer version"
            guard let original = original(of: delivery, truth), original != truth.item(of: delivery) else {
                return sentence
            }
            unexplained[original] = sentence
        }
        if result.outcome == .withheld, truth.scenario.setting.quiet?.action == .drop { return nil }
        return mismatch(result.outcome, truth.news(of: delivery).kind).map { "\(name) \($0)" }
    }

    /// Returns true if another record of the story has the same or a newer version, or, if one of the two has no version, was
    /// published later on the same partition, and is not held itself. Copies of a former incarnation are compared by timestamps.
    private func hasRival(_ delivery: Int, _ truth: GroundTruth) -> Bool {
        let news = truth.news(of: delivery)
        let origin = news.serial % GroundTruth.returnSerials
        let original = original(of: delivery, truth)
        return truth.news.enumerated().contains { item, other in
            let isNewer =
                if let version = news.version, let rival = other.version {
                    rival >= version
                } else {
                    isLater(item, than: original, byTime: formerCopies.contains(truth.item(of: delivery)), truth)
                }
            guard other.story == news.story, isNewer, other.sharesReaders(with: news),
                other.serial != news.serial, other.kind != .undecodable, other.kind != .unroutable
            else { return false }
            guard other.serial % GroundTruth.returnSerials == origin else { return true }
            let results = truth.resultsOf[item * truth.platforms + delivery % truth.platforms]
            // A copy that is held again takes the place of the event's other copies.
            if news.version == nil, other.serial != origin, results.contains(where: { $0.outcome == .held }) {
                return true
            }
            return results.isEmpty || results.contains { $0.outcome != .held && $0.outcome != .superseded }
        }
    }

    private func original(of delivery: Int, _ truth: GroundTruth) -> Int? {
        truth.item(serial: truth.news(of: delivery).serial % GroundTruth.returnSerials)
    }

    private func isLater(_ item: Int, than original: Int?, byTime: Bool, _ truth: GroundTruth) -> Bool {
        guard let original, let place = truth.places[item], let other = truth.places[original],
            place.partition == other.partition
        else { return false }
        return place.publishedAt >= other.publishedAt
            || byTime && truth.news[original].record.isEarlier(than: truth.news[item].record)
    }

    private func mismatch(_ outcome: Outcome, _ kind: NewsItem.Kind) -> String? {
        let isRight =
            switch (kind, outcome) {
            case (.undecodable, .undecodable), (.unroutable, .unroutable), (.withheld, .withheld),
                (.canceled, .canceled):
                true
            case (.undecodable, _), (.unroutable, _), (.withheld, _), (.canceled, _): false
            case (_, .undecodable), (_, .unroutable), (_, .withheld): false
            case (.refused, .accepted): false
            default: true
            }
        return isRight ? nil : "is \(outcome.rawValue) although its event is \(kind)"
    }
}
