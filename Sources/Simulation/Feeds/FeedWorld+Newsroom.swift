import ByteText
import Feeds
import NewsModel

// Changes that publishers make to their feeds.

extension FeedWorld {
    /// Makes a random change to a feed during the faulty period.
    mutating func newsroom(_ name: String) {
        guard !isCalm, var publisher = publishers[name] else { return }
        agenda.add(.newsroom(name), at: now + random.milliseconds(20_000...1_200_000))
        switch random.number(0...99) {
        case 0..<50:
            for _ in 0..<random.pick([1, 1, 1, 2, 5], or: 1) { publisher.publishNow(at: now) }
        case 50..<65: if let number = publisher.listed.randomElement(using: &random) { publisher.edit(number, at: now) }
        case 65..<75: if let number = publisher.listed.randomElement(using: &random) { publisher.flap(number, at: now) }
        case 75..<82: if let number = publisher.listed.randomElement(using: &random) { publisher.touch(number) }
        // With copies of both, former ids and new ones would appear in turn.
        case 82..<86: if publisher.listed.count >= 12, !publisher.datesChanges { publisher.rekey() }
        case 86..<92: if !publisher.isUndated { publisher.bringBack(random.number(1...8)) }
        case 92..<95:
            if let number = publisher.listed.randomElement(using: &random) { publisher.cancel(number, at: now) }
        default:
            // Dates that are wrong by hours or in the future.
            let isBacklog = publisher.firstGivenAt == nil
            if !publisher.isUndated {
                let wrong = Duration.seconds(random.pick([-3_600 * 30, 3_600, 86_400], or: 0))
                publisher.publish(at: now, date: now + wrong, isBacklog: isBacklog)
            }
        }
        publishers[name] = publisher
    }

    /// Withholds one of the listed items, usually a new one, and releases half of them later.
    mutating func withhold(_ name: String) {
        guard !isCalm, var publisher = publishers[name] else { return }
        agenda.add(.withhold(name), at: now + random.milliseconds(200_000...2_400_000))
        if let number = publisher.listed.prefix(3).randomElement(using: &random), !publisher.items[number].isWithheld {
            publisher.withhold(number, true, at: now)
            if random.chance(percent: 50) {
                agenda.add(.setFree(name, number), at: now + random.milliseconds(30_000...1_800_000))
            }
        }
        publishers[name] = publisher
    }

    /// Publishes news that must reach its readers, because the faults have ended.
    mutating func calmNews(_ name: String, _ round: Int) {
        guard var publisher = publishers[name] else { return }
        publisher.publishNow(at: now)
        // Edits a story of an earlier round and withdraws another one.
        if round == 3, let number = publisher.listed.dropFirst(2).first { publisher.edit(number, at: now) }
        if round == 5, let number = publisher.listed.dropFirst(4).first { publisher.cancel(number, at: now) }
        publishers[name] = publisher
    }
}
