import Feeds
import NewsModel

// The promises, checked from outside: against the publishers' items and the records on the topics.

extension FeedWorld {
    /// Checks an alert at the first attempt to store its intent, which is the decision that the entry is news.
    mutating func checkAlert(_ record: StateRecord) throws(FeedViolation) {
        guard let value = record.value, decided[value] == nil, let (intent, name, item) = alert(in: record) else {
            return
        }
        decided[value] = now
        // A process may write an intent of the topic again, to overwrite a record that does not count.
        if intents.contains(intent.event) { return }
        let isSent = intent.lane != "live" && rules[name]?.onFirstSight == .all
        if item.isBacklog, !isSent, !isAsOldAsTheFirstReading(item, name) {
            try broken(.noBacklog, "\(item.link) stood in the feed before it was first read")
        }
        // The age of an entry that was withheld counts from its last date.
        let freedAt = item.wasWithheld && publishers[name]?.datesChanges == true ? item.editedAt : .distantPast
        if let date = item.statedDate.map({ max($0, freedAt) }), let maxAge = rules[name]?.maxAge,
            intent.lane == "live", now - date > maxAge + .seconds(60)
        {
            try broken(.noBacklog, "\(item.link) is \(now - date) old")
        }
    }

    /// Checks the bound of alerts when an intent has reached the topic, because an alert whose intent was lost is never sent. Its
    /// time is that of the decision. Processes that briefly follow the same feed may each send as many, and so may a process that
    /// was killed or whose writes took too long, and its successor, which began before the last records of the former one arrived.
    mutating func checkBound(_ record: StateRecord, isLate: Bool) throws(FeedViolation) {
        guard let (intent, name, item) = alert(in: record) else { return }
        intents.insert(intent.event)
        guard !isLate, intent.lane == "live", let decidedAt = record.value.flatMap({ decided[$0] }),
            alerted.insert(item.link).inserted
        else { return }
        let times = (alerts[name, default: []] + [decidedAt]).sorted()
        alerts[name] = times
        let most = scenario.lostSessions > 0 ? scenario.processes * scenario.maxPerHour : scenario.maxPerHour
        if zip(times, times.dropFirst(most)).contains(where: { $1 - $0 < .seconds(59 * 60) }) {
            try broken(.bounded, "\(name) has decided on more than \(most) alerts within an hour")
        }
    }

    /// Returns the intent to write the first event of an item.
    private func alert(in record: StateRecord) -> (intent: (lane: String, event: [UInt8]), feed: String, FeedItem)? {
        guard let intent = record.value.flatMap({ Self.intent(in: $0) }),
            let (_, version) = lanes.read(intent.event, lane: intent.lane), !version.isCanceled,
            lanes.ids[version.link] == nil, let (name, item) = item(version.link)
        else { return nil }
        return (intent, name, item)
    }

    /// Returns true if published within a minute before the first delivery, because an entry's state stores minutes only.
    private func isAsOldAsTheFirstReading(_ item: FeedItem, _ name: String) -> Bool {
        guard let date = item.statedDate, let firstGivenAt = publishers[name]?.firstGivenAt else { return false }
        return firstGivenAt - date < .seconds(60)
    }

    /// Returns the item of the event in the record's intent.
    func intended(_ record: StateRecord) -> (feed: String, FeedItem)? {
        record.value.flatMap { Self.intent(in: $0) }.flatMap { lanes.read($0.event, lane: $0.lane) }
            .flatMap { item($0.1.link) }
    }

    private static func intent(in value: [UInt8]) -> (lane: String, event: [UInt8])? {
        let parser = JSONParser()
        // The object refers to the parser's memory.
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

    /// Checks a release that missed the group's deadline. The reason must be a write without an answer, or a process that stood
    /// still.
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
            for item in publisher.items where item.bornAt > primedAt {
                // An entry with an earlier date is news only above known entries.
                if publisher.hasShuffled, let date = item.statedDate, date < primedAt { continue }
                try checkWritten(item, publisher)
            }
        }
    }

    /// Checks that a story stated truly by its feed was written, and that readers have its last text.
    private func checkWritten(_ item: FeedItem, _ publisher: FeedPublisher) throws(FeedViolation) {
        try checkLastText(item, publisher)
        try checkWithheld(item, publisher)
        let isOfCalm = item.bornAt - Self.start > scenario.stormy
        let lag = item.statedDate.map { item.bornAt - $0 } ?? .zero
        let isHonest = publisher.isUndated == (item.statedDate == nil) && (.zero ... .seconds(120)).contains(lag)
        // Some stories need not be written. Without the publisher's time, a clock that is ahead makes them old. A server that always
        // answers "unchanged" may delay them until they are old. After many errors a feed is polled so rarely that a story may be
        // older than `maxAge` when it is first seen. Others exceed `maxPerPoll` or `maxPerHour`, left the document unseen, or were
        // withdrawn at once.
        let isTimeKnown = scenario.clockAhead == .zero || publisher.saysTime
        guard isHonest, isOfCalm || !publisher.hasLied && isTimeKnown, scenario.maxPerPoll >= 1_000,
            scenario.maxPerHour >= 1_000,
            !item.isCanceled, !item.isWithheld, !wasOldWhenShown(item, publisher),
            isOfCalm || publisher.listed.contains(item.number) && (item.edits == 0 || !item.isRekeyed)
        else { return try checkWithdrawn(item) }
        if lanes.versions(ofLink: item.link).isEmpty { try broken(.nothingLost, "\(item.link) was never written") }
    }

    /// Checks that no old copy of a document brings back a text that the publisher has replaced, and whose successor was
    /// delivered within the last hour. A text without such a successor may have lasted.
    func checkAge(_ event: FeedEvent, lane: String) throws(FeedViolation) {
        guard scenario.lostSessions == 0, publishers[event.feed]?.datesChanges == true,
            let version = lanes.read(event.value, lane: lane)?.1, version.status == .usable,
            let item = item(version.link)?.1, !item.flaps, let last = lanes.versions(ofLink: version.link).last,
            FeedItem.edits(of: version.headline) < FeedItem.edits(of: last.headline), let givenAt = item.givenAt,
            now - givenAt < .seconds(3_300)
        else { return }
        try broken(.oneVersion, "\(version.link) goes back to \"\(version.headline)\", an old copy")
    }

    private func wasOldWhenShown(_ item: FeedItem, _ publisher: FeedPublisher) -> Bool {
        guard let shownAt = shownAt[item.link], let maxAge = rules[publisher.name]?.maxAge else { return false }
        // The age of an entry that was withheld counts from its last date, and from when it is first seen free.
        if item.wasWithheld { return item.statedDate != nil || publisher.datesChanges }
        return item.statedDate.map { shownAt - $0 > maxAge } ?? false
    }

    /// Checks that the last event of a story says that it is withheld if and only if its publisher withholds it.
    private func checkWithheld(_ item: FeedItem, _ publisher: FeedPublisher) throws(FeedViolation) {
        guard publisher.listed.contains(item.number), !item.isCanceled,
            let last = lanes.versions(ofLink: item.link).last, !last.isCanceled,
            (last.status == .withheld) != item.isWithheld
        else { return }
        try broken(
            .nothingLost,
            "\(item.link) is \(item.isWithheld ? "withheld" : "free"), and its last event says \(last.status)")
    }

    /// Checks that a story's last text in calm times reaches the readers of its earlier versions.
    private func checkLastText(_ item: FeedItem, _ publisher: FeedPublisher) throws(FeedViolation) {
        guard publisher.listed.contains(item.number), !item.isCanceled, !item.isWithheld,
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
