import NewsModel
import PublishEngine

/// Makes the news of a life: stories with versions, duplicates, poison, embargoes, bursts.
struct Newsroom {
    let setting: Setting
    let start: Instant
    let seconds: Int
    private var random: SeededRandom
    private var versions: [String: Int] = [:]
    private var written: [NewsItem] = []

    init(setting: Setting, start: Instant, seconds: Int, random: SeededRandom) {
        self.setting = setting
        self.start = start
        self.seconds = seconds
        self.random = random
    }

    /// In the order of their times.
    mutating func write(_ count: Int) -> [NewsItem] {
        let isBurst = random.chance(percent: 40)
        var times = (0..<count).map { _ in random.milliseconds(0...(seconds * 1000)) }
        if isBurst {
            let burst = random.milliseconds(0...(seconds * 1000))
            for index in times.indices where random.chance(percent: 70) { times[index] = burst }
        }
        times.sort()
        let stories = max(1, random.number(1...count))
        for (serial, at) in times.enumerated() { written.append(item(serial, at: at, stories: stories)) }
        return written
    }

    private mutating func item(_ serial: Int, at: Duration, stories: Int) -> NewsItem {
        let story = "story-\(random.number(1...stories))"
        // The hash is a story's key: all its records stand in one partition of a lane.
        let lane = random.number(0...(setting.lanes.count - 1))
        let topics = setting.lanes[lane].topics
        let place = story.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xffff }
        let topic = topics[place % topics.count]
        let partition = TopicPartition(topic: topic, partition: Int32(place / 7 % setting.partitions))
        if random.chance(percent: 6),
            let twin = written.last(where: { $0.partition == partition && $0.kind == .usable })
        {
            return again(twin, serial, at: at)
        }
        var event = NewsEvent(id: "event-\(serial)", headline: Marker.text(serial) + " news")
        event.categories = [["World", "Politics", "Business", "Sports"][serial % 4]]
        event.story = story
        var version: Int?
        if random.chance(percent: 60) {
            let next = (versions[story] ?? 0) + 1
            versions[story] = next
            version = next
            event.version = .init(String(next))
        }
        if random.chance(percent: 5) { event.embargoUntil = start + at + random.milliseconds(0...20_000) }
        if random.chance(percent: 8) { event.expiresAt = start + at + random.milliseconds(0...30_000) }
        if random.chance(percent: 5) { event.summary = String(repeating: "long ", count: random.number(1...600)) }
        let kind = kind()
        switch kind {
        case .unroutable: event.categories = ["Gardening"]
        case .withheld: event.status = .withheld
        case .canceled: event.status = .canceled
        case .usable, .refused, .redriven, .undecodable: break
        }
        return finished(event, kind, serial, at: at, lane: lane, partition: partition, version: version)
    }

    private mutating func kind() -> NewsItem.Kind {
        switch random.number(0...99) {
        case ..<4: .undecodable
        case ..<7: .unroutable
        case ..<10: .withheld
        case ..<14: .canceled
        case ..<17: .refused
        case ..<19: .redriven(random.pick(setting.engine.platforms, or: .template))
        default: .usable
        }
    }

    /// The same id and version again, under another headline so that the hub's books can tell them apart.
    private mutating func again(_ twin: NewsItem, _ serial: Int, at: Duration) -> NewsItem {
        var event = NewsEvent(id: twin.eventID, headline: Marker.text(serial) + " again")
        event.categories = ["World"]
        event.story = twin.story
        event.version = twin.version.map { .init(String($0)) }
        return finished(
            event, .usable, serial, at: at, lane: twin.lane, partition: twin.partition, version: twin.version)
    }

    private mutating func finished(
        _ event: NewsEvent, _ kind: NewsItem.Kind, _ serial: Int, at: Duration, lane: Int, partition: TopicPartition,
        version: Int?
    ) -> NewsItem {
        var value: [UInt8] = []
        event.encode(into: &value)
        if kind == .undecodable {
            value = random.chance(percent: 50) ? Array("not news".utf8) : Array(value.dropLast(2))
        }
        var record = SourceRecord(
            offset: 0, timestamp: random.chance(percent: 90) ? start + at : nil, key: Array((event.story ?? "").utf8),
            value: value)
        if case .redriven(let platform) = kind {
            record.headers = [RecordHeader(RedriveHeader.platform, platform.rawValue)]
        }
        return NewsItem(
            serial: serial, at: at, lane: lane, partition: partition, gapBefore: random.chance(percent: 8) ? 3 : 0,
            gapAfter: random.chance(percent: 8) ? 1 : 0, kind: kind, eventID: event.id, story: event.orderKey,
            version: version, record: record)
    }
}

/// A word in each headline by which the books recognise the record behind a request's body.
enum Marker {
    private static let fence = UInt8(ascii: "~")

    static func text(_ serial: Int) -> String { "~\(serial)~" }

    static func serial(in body: [UInt8]) -> Int? {
        guard let open = body.firstIndex(of: fence) else { return nil }
        var serial = 0
        for byte in body[(open + 1)...] {
            if byte == fence { return serial }
            guard (48...57).contains(byte), serial < 1 << 30 else { return nil }
            serial = serial * 10 + Int(byte - 48)
        }
        return nil
    }
}
