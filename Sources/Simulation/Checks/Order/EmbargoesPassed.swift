import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// An event that is under embargo in its lane's window delays no later event of its story: it ends when it would be the first of
/// them. Checked where no clock is wrong, and for records that were read once, so that it is certain what the engine knew.
struct EmbargoesPassed {
    /// The time of the last result of each story in each process.
    private var lastEnd: [Line: Instant] = [:]
    private var ended: Set<Int> = []
    /// For each ownership, the highest offset with a request or an outcome so far, with its time. Records are examined in order.
    private var examined: [Int: [(offset: Int64, at: Instant)]] = [:]
    private var wrongClocks: Set<Int> = []

    private struct Line: Hashable {
        var address: Address
        var lane: LaneID
        var story: String
        var platform: Platform
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .clockStepped(let address, _, _): wrongClocks.insert(address.process)
        case .holding(let delivery, let ownership, _, _), .deadLettered(let delivery, let ownership, _, _):
            ended.insert(delivery)
            noteExamined(delivery, ownership, truth)
        case .settled(let delivery, let ownership, _, let address):
            ended.insert(delivery)
            noteExamined(delivery, ownership, truth)
            lastEnd[line(of: delivery, at: address, truth)] = truth.now
        case .sent(let number, let address, let wall):
            let attempt = truth.attempts[number]
            guard attempt.ownership >= 0 else { return nil }
            noteExamined(attempt.delivery, attempt.ownership, truth)
            guard wall == truth.now, !wrongClocks.contains(address.process) else { return nil }
            return sent(attempt, address, truth)
        default: break
        }
        return nil
    }

    private mutating func noteExamined(_ delivery: Int, _ ownership: Int?, _ truth: GroundTruth) {
        guard let ownership, ownership >= 0, let place = truth.places[truth.item(of: delivery)],
            examined[ownership]?.last.map({ $0.offset < place.offset }) ?? true
        else { return }
        examined[ownership, default: []].append((place.offset, truth.now))
    }

    private func sent(_ attempt: Attempt, _ address: Address, _ truth: GroundTruth) -> String? {
        let delivery = attempt.delivery
        let item = truth.item(of: delivery)
        let news = truth.news[item]
        guard let embargo = news.embargoUntil, !ended.contains(delivery), isReadOnce(item, attempt.ownership, truth),
            truth.attemptsOf[delivery].count == 1, let place = truth.places[item],
            lastEnd[line(of: delivery, at: address, truth)] ?? .distantPast < embargo
        else { return nil }
        for later in truth.news.indices where isReadOnce(later, attempt.ownership, truth) {
            let other = truth.news[later]
            let waiting = truth.delivery(item: later, platform: delivery % truth.platforms)
            guard other.story == news.story, other.maySend, other.hasSameReaders(as: news),
                let otherPlace = truth.places[later], otherPlace.offset > place.offset, !ended.contains(waiting),
                news.version ?? 0 <= other.version ?? .max,
                let examinedAt = examined[attempt.ownership]?.first(where: { $0.offset > otherPlace.offset })?.at,
                examinedAt < embargo, !hasCopies(later, truth)
            else { continue }
            return "\(truth.name(waiting)) waited until the embargo of \(truth.name(delivery)) ended"
        }
        return nil
    }

    private func isReadOnce(_ item: Int, _ ownership: Int, _ truth: GroundTruth) -> Bool {
        truth.takenBy[item] == [ownership] && truth.news[item].copy == nil && truth.places[item]?.isGone == false
    }

    /// Returns true if a process has read a copy of the event, so that this one may be a duplicate.
    private func hasCopies(_ item: Int, _ truth: GroundTruth) -> Bool {
        truth.news.indices.contains { other in
            other != item && truth.news[other].eventID == truth.news[item].eventID && !truth.takenBy[other].isEmpty
        }
    }

    private func line(of delivery: Int, at address: Address, _ truth: GroundTruth) -> Line {
        let news = truth.news(of: delivery)
        return Line(address: address, lane: news.lane, story: news.story, platform: truth.platform(of: delivery))
    }
}
