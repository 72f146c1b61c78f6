import Feeds
import NewsModel

// The promises, seen from outside: by what publishers have published and what stands on the topics.

extension FeedWorld {
    /// The first try to store an intent is the moment of the decision: is this news at all?
    mutating func checkIntent(_ record: StateRecord) throws(FeedViolation) {
        guard let value = record.value, let intent = Self.intent(in: value), decided.insert(intent.event).inserted,
            let (_, version) = lanes.read(intent.event, lane: intent.lane), !version.isCanceled,
            lanes.ids[version.link] == nil, let (name, item) = item(version.link), !mayBeRenamed(item)
        else { return }
        if item.isBacklog { try broken(.noBacklog, "\(item.link) stood in the feed before it was first read") }
        if let date = item.statedDate, let maxAge = rules[name]?.maxAge, intent.lane == "live",
            now - date > maxAge + .seconds(60)
        {
            try broken(.noBacklog, "\(item.link) is \(now - date) old")
        }
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

    /// It has changed its id and its text: nothing tells it from a new one.
    func mayBeRenamed(_ item: FeedItem) -> Bool { item.isRekeyed && (item.edits > 0 || item.flaps) }

    func item(_ link: String) -> (feed: String, FeedItem)? {
        for name in names {
            guard let publisher = publishers[name], link.hasPrefix("https://\(publisher.host)/\(name)/story-"),
                let number = Int(link.split(separator: "-").last ?? ""), publisher.items.indices.contains(number)
            else { continue }
            return (name, publisher.items[number])
        }
        return nil
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

    /// Every story that its feed has told truly must have been written, with what it said last.
    private func checkWritten(_ item: FeedItem, _ publisher: FeedPublisher) throws(FeedViolation) {
        let isOfCalm = item.bornAt - Self.start > scenario.stormy
        let isHonest = publisher.isUndated ? item.statedDate == nil : item.statedDate == item.bornAt
        // A server that says "unchanged" to anything may keep a story from us until it is old. One beyond `maxPerPoll`, one
        // that has left the document unseen, and one that was withdrawn at once are not owed either.
        guard isHonest, isOfCalm || !publisher.hasLied, scenario.maxPerPoll >= 1_000, !item.isCanceled,
            isOfCalm || publisher.listed.contains(item.number) && (item.edits == 0 || !item.isRekeyed)
        else { return try checkWithdrawn(item) }
        let versions = lanes.versions(ofLink: item.link)
        guard let last = versions.last else {
            return try broken(.nothingLost, "\(item.link) was never written")
        }
        let isEditedInCalm = item.editedAt - Self.start > scenario.stormy + .seconds(4_000)
        if isEditedInCalm, !item.isRekeyed, !item.flaps, last.headline != item.headline {
            try broken(
                .nothingLost, "\(item.link) says \"\(item.headline)\", and \"\(last.headline)\" was written last")
        }
    }

    private func checkWithdrawn(_ item: FeedItem) throws(FeedViolation) {
        guard item.isCanceled, !item.isRekeyed, item.bornAt - Self.start > scenario.stormy,
            let last = lanes.versions(ofLink: item.link).last, !last.isCanceled
        else { return }
        try broken(.nothingLost, "\(item.link) was withdrawn, and nobody was told")
    }
}
