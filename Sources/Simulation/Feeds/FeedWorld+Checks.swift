import Feeds
import NewsModel

// The promises, seen from outside: by what publishers have published and what stands on the topics.

extension FeedWorld {
    /// The first try to store an intent is the moment of the decision: is this news at all?
    mutating func checkIntent(_ record: StateRecord) throws(FeedViolation) {
        guard let value = record.value, let intent = Self.intent(in: value), decided.insert(intent.event).inserted,
            let (_, version) = lanes.read(intent.event, lane: intent.lane), !version.isCanceled,
            lanes.ids[version.link] == nil, let (name, item) = item(version.link)
        else { return }
        if intent.lane == "live", alerted.insert(item.link).inserted { try checkBound(of: name) }
        if item.isBacklog, !isAsOldAsTheFirstReading(item, name) {
            try broken(.noBacklog, "\(item.link) stood in the feed before it was first read")
        }
        if let date = item.statedDate, let maxAge = rules[name]?.maxAge, intent.lane == "live",
            now - date > maxAge + .seconds(60)
        {
            try broken(.noBacklog, "\(item.link) is \(now - date) old")
        }
    }

    /// Two processes that follow a feed for a moment may each send as much.
    private mutating func checkBound(of name: String) throws(FeedViolation) {
        let recent = alerts[name, default: []].filter { now - $0 < .seconds(59 * 60) } + [now]
        alerts[name] = recent
        let most = scenario.lostSessions > 0 ? 2 * scenario.maxPerHour : scenario.maxPerHour
        if recent.count > most {
            try broken(.bounded, "\(name) has decided on \(recent.count) alerts within the hour")
        }
    }

    /// Published within the minute in which the feed was first given: minutes are all that an entry's state has.
    private func isAsOldAsTheFirstReading(_ item: FeedItem, _ name: String) -> Bool {
        guard let date = item.statedDate, let firstGivenAt = publishers[name]?.firstGivenAt else { return false }
        return firstGivenAt - date < .seconds(60)
    }

    /// The item whose event the record intends.
    func intended(_ record: StateRecord) -> (feed: String, FeedItem)? {
        record.value.flatMap { Self.intent(in: $0) }.flatMap { lanes.read($0.event, lane: $0.lane) }
            .flatMap { item($0.1.link) }
    }

    private static func intent(in value: [UInt8]) -> (lane: String, event: [UInt8])? {
        let parser = JSONParser()
        // An object lives no longer than its parser.
        defer { withExtendedLifetime(parser) {} }
        return value.withUnsafeBufferPointer { buffer in
            guard let object = try? parser.object(in: buffer) else { return nil }
            for member in object where String(decoding: member.name, as: UTF8.self) == "intent" {
                guard case .object(let intent) = member.value else { return nil }
                var lane = ""
                var event: [UInt8] = []
                for member in intent {
                    guard case .string(let text) = member.value else { continue }
                    switch String(decoding: member.name, as: UTF8.self) {
                    case "lane": lane = String(decoding: text, as: UTF8.self)
                    case "event": event = Array(text)
                    default: break
                    }
                }
                return (lane, event)
            }
            return nil
        }
    }

    func item(_ link: String) -> (feed: String, FeedItem)? {
        for name in names {
            guard let publisher = publishers[name], link.hasPrefix("https://\(publisher.host)/\(name)/story-"),
                let number = Int(link.split(separator: "-").last ?? ""), publisher.items.indices.contains(number)
            else { continue }
            return (name, publisher.items[number])
        }
        return nil
    }

    /// The group has waited for the release in vain. That must have had a reason: a write that the broker has not answered, or
    /// a process that stood still.
    func checkHandover(of partition: Int32, by number: Int) throws(FeedViolation) {
        let process = processes[number]
        guard let revokedAt = process.reading[partition]?.revokedAt, process.pausedUntil <= revokedAt,
            !process.unanswered.values.contains(partition)
        else { return }
        try broken(.handsOver, "process \(number) keeps partition \(partition) without a write in flight")
    }

    func checkEnd() throws(FeedViolation) {
        for number in processes.indices where processes[number].isAlive && !processes[number].hasFinished {
            try broken(.ends, "process \(number) has not finished: \(processes[number].ingester.load)")
        }
        for name in names where !leftAlone.contains(name) {
            guard let publisher = publishers[name], let primedAt = primedAt[name] else {
                try broken(.nothingLost, "\(name) was never read")
                continue
            }
            for item in publisher.items where item.bornAt > primedAt { try checkWritten(item, publisher) }
        }
    }

    /// Every story that its feed has told truly must have been written, and readers have what it said last.
    private func checkWritten(_ item: FeedItem, _ publisher: FeedPublisher) throws(FeedViolation) {
        try checkLastText(item, publisher)
        let isOfCalm = item.bornAt - Self.start > scenario.stormy
        let isHonest = publisher.isUndated ? item.statedDate == nil : item.statedDate == item.bornAt
        // A server that says "unchanged" to anything may keep a story from us until it is old. One beyond `maxPerPoll` or
        // `maxPerHour`, one that has left the document unseen, and one that was withdrawn at once are not owed either.
        guard isHonest, isOfCalm || !publisher.hasLied, scenario.maxPerPoll >= 1_000, scenario.maxPerHour >= 1_000,
            !item.isCanceled,
            isOfCalm || publisher.listed.contains(item.number) && (item.edits == 0 || !item.isRekeyed)
        else { return try checkWithdrawn(item) }
        if lanes.versions(ofLink: item.link).isEmpty { try broken(.nothingLost, "\(item.link) was never written") }
    }

    /// Whatever it said in between, however often: what a story says when all is well reaches those who got it.
    private func checkLastText(_ item: FeedItem, _ publisher: FeedPublisher) throws(FeedViolation) {
        guard publisher.listed.contains(item.number), !item.isCanceled,
            let last = lanes.versions(ofLink: item.link).last, !last.isCanceled, last.headline != item.headline
        else { return }
        try broken(
            .nothingLost, "\(item.link) says \"\(item.headline)\", and \"\(last.headline)\" was written last")
    }

    private func checkWithdrawn(_ item: FeedItem) throws(FeedViolation) {
        guard item.isCanceled, !item.isRekeyed, item.bornAt - Self.start > scenario.stormy,
            let last = lanes.versions(ofLink: item.link).last, !last.isCanceled
        else { return }
        try broken(.nothingLost, "\(item.link) was withdrawn, and nobody was told")
    }
}
