import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// Nothing held is lost: of every story the newest event comes back to the partition it was taken from. What it replaced on the
/// held topic, maybe from another lane, need not.
struct HeldComesBack: Checker {
    let promise = Promise.heldComesBack
    /// The items whose result says that they are held.
    private var held: [Line: [Int]] = [:]
    /// All items that came to stand on the held topic, with a result or without.
    private var onTopic: [Line: [Int]] = [:]
    private var returned: Set<Int> = []
    /// What went with a topic that was deleted. It comes back if every process knew it, and they all live on.
    private var vanished: Set<Int> = []
    private var mayBeLost: Set<Int> = []

    private struct Line: Hashable {
        /// Of the held topic.
        var partition: Int32?
        var story: String
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        switch fact {
        case .stored(let delivery, let result, _) where result.outcome == .held:
            let item = truth.item(of: delivery)
            held[Line(partition: truth.partition(of: delivery)?.partition, story: truth.news[item].story), default: []]
                .append(item)
        case .standsHeld(let item, let partition):
            onTopic[Line(partition: partition, story: truth.news[item].story), default: []].append(item)
        case .returned(let copy, let item, let event, _, _, _):
            returned.insert(item)
            let source = event.source.partition
            // Its own, or one that its topic's number of partitions leads to: the number that the process has last heard.
            let former = truth.formerCounts[source.topic] ?? []
            if let place = truth.places[copy]?.partition, place != source,
                !former.contains(where: { $0 <= source.partition && Int(source.partition) % $0 == place.partition })
            {
                return "\(truth.news[item].eventID) came back to another partition than it was taken from"
            }
        case .heldDeleted(let items, let unread):
            vanished.formUnion(items)
            mayBeLost.formUnion(unread)
        case .restoredHeld(_, let item): returned.insert(item)
        case .started, .died: mayBeLost.formUnion(vanished)
        case .over(isSettled: true, _):
            for (line, items) in held {
                // What replaced it may have been put there by a process that lost the partition before it could report it.
                let rivals = items + onTopic[line, default: []]
                for item in items where !returned.contains(item) && !mayBeLost.contains(item) {
                    if vanished.contains(item), truth.places[item]?.isGone == true { continue }
                    guard !rivals.contains(where: { isReplaced(item, by: $0, truth) }) else { continue }
                    return "\(truth.news[item].eventID) (~\(truth.news[item].serial)~) was held and never came back"
                }
            }
        default: break
        }
        return nil
    }

    private func isReplaced(_ item: Int, by other: Int, _ truth: GroundTruth) -> Bool {
        guard item != other else { return false }
        if let version = truth.news[item].version, let newer = truth.news[other].version, version != newer {
            return newer > version
        }
        guard let place = truth.places[item], let later = truth.places[other] else { return true }
        return later.publishedAt > place.publishedAt || returned.contains(other)
    }
}
