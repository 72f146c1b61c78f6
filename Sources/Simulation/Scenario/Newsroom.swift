import ByteText
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// Creates the news of a life: stories with versions, copies, recalls, invalid events, embargoes and bursts.
struct Newsroom {
    let setting: Setting
    let start: Instant
    let seconds: Int
    static let feeds = ["agency", "wire"]
    static let runs = ["run-1", "run-2"]

    private var random: SeededRandom
    private var versions: [String: Int] = [:]
    private var written: [NewsItem] = []

    init(setting: Setting, start: Instant, seconds: Int, random: SeededRandom) {
        self.setting = setting
        self.start = start
        self.seconds = seconds
        self.random = random
    }

    /// Returns the news, sorted by time.
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
        if random.chance(percent: 8), let copy = copy(serial, at: at) { return copy }
        let kind = kind()
        var story = "story-\(random.number(1...stories))"
        // Recalls matter most while deliveries of their story are in flight.
        if kind == .canceled, let recent = written.suffix(4).randomElement(using: &random) { story = recent.story }
        let lane = LaneID(random.number(0...(setting.lanes.count - 1)))
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
        if random.chance(percent: 12) { event.embargoUntil = start + at + random.milliseconds(0...40_000) }
        if random.chance(percent: 8) { event.expiresAt = start + at + random.milliseconds(0...60_000) }
        if random.chance(percent: 5) { event.summary = String(repeating: "long ", count: random.number(1...600)) }
        switch kind {
        case .unroutable: event.categories = ["Gardening"]
        case .usable, .refused:
            follow(&event, serial)
            address(&event, serial)
        case .withheld: event.status = .withheld
        case .canceled: event.status = .canceled
        case .undecodable: break
        }
        return finished(event, kind, serial, at: at, lane: lane, version: version)
    }

    /// Gives some events interests, a part of them more than one send has room for. Draws nothing, so that recorded seeds keep
    /// their lives.
    private func follow(_ event: inout NewsEvent, _ serial: Int) {
        guard serial % 7 == 3 else { return }
        let count = [1, 3, 22, 45][serial / 7 % 4]
        event.interests = (1...count).map { "\(Self.kind):\($0)" } + ["player:1"]
        if serial % 2 == 0 { event.categories = [] }
    }

    /// Makes some events for single readers, whose groups overlap. Draws nothing either.
    private func address(_ event: inout NewsEvent, _ serial: Int) {
        guard serial % 5 == 2, event.interests.isEmpty else { return }
        event.users = [["amy"], ["amy", "bob"], ["bob"], []][serial / 5 % 4]
    }

    static let kind = "team"

    private mutating func kind() -> NewsItem.Kind {
        switch random.number(0...99) {
        case ..<4: .undecodable
        case ..<7: .unroutable
        case ..<10: .withheld
        case ..<15: .canceled
        case ..<18: .refused
        default: .usable
        }
    }

    /// Repeats an id and version under another headline, by which the two can be distinguished.
    private mutating func copy(_ serial: Int, at: Duration) -> NewsItem? {
        let candidates = written.suffix(30).filter(\.maySend)
        guard let twin = candidates.randomElement(using: &random) else { return nil }
        var event = NewsEvent(id: twin.eventID, headline: Marker.text(serial) + " again")
        event.categories = ["World"]
        event.story = twin.story
        event.users = twin.users
        event.version = twin.version.map { .init(String($0)) }
        let copy: NewsItem.Copy
        var repeated: String?
        if case .redriven? = twin.copy, random.chance(percent: 80) {
            // Two people put the same dead letter back.
            (copy, repeated) = (twin.copy ?? .republished, twin.redriveOf)
        } else if random.chance(percent: 60) {
            copy = .redriven(random.pick(setting.engine.platforms, or: .template))
            // Any text that is the same for both; a dead letter's own place is not known yet.
            repeated = random.chance(percent: 80) ? "\(twin.topic)/0/\(twin.serial)" : nil
        } else {
            copy = .republished
        }
        if case .redriven = copy, random.chance(percent: 50) { event.embargoUntil = twin.embargoUntil }
        return finished(
            event, twin.kind, serial, at: at, lane: twin.lane, topic: twin.topic, version: twin.version, copy: copy,
            repeating: repeated)
    }

    private mutating func finished(
        _ event: NewsEvent, _ kind: NewsItem.Kind, _ serial: Int, at: Duration, lane: LaneID, topic: String? = nil,
        version: Int?, copy: NewsItem.Copy? = nil, repeating repeated: String? = nil
    ) -> NewsItem {
        var value: [UInt8] = []
        event.encode(into: &value)
        if kind == .undecodable {
            value = random.chance(percent: 50) ? Array("not news".utf8) : Array(value.dropLast(2))
        }
        var record = SourceRecord(
            offset: 0, timestamp: timestamp(at)?.asTimestamp, key: Array((event.story ?? "").utf8), value: value)
        let platform: Platform? = if case .redriven(let one) = copy { one } else { nil }
        if let platform {
            record.headers = [
                RecordHeader(HeaderName.platform, platform.rawValue), RecordHeader(HeaderName.redrive, "1"),
            ]
            if let repeated { record.headers.append(RecordHeader(HeaderName.redriveOf, repeated)) }
        }
        let feed = random.chance(percent: 25) ? random.pick(Self.feeds, or: "") : nil
        let run = lane > .mostUrgent && random.chance(percent: 40) ? random.pick(Self.runs, or: "") : nil
        if let feed { record.headers.append(RecordHeader(HeaderName.feed, feed)) }
        if let run { record.headers.append(RecordHeader(HeaderName.run, run)) }
        if random.chance(percent: 3) { enlarge(&record) }
        // The hash is a story's key: all its records are in one partition of a topic, unless the topic grows.
        let hash = event.orderKey.utf8.reduce(7) { ($0 &* 31 &+ Int($1)) & 0xffff }
        let topics = setting.lanes[lane].topics
        return NewsItem(
            serial: serial, at: at, lane: lane, topic: topic ?? topics[hash % topics.count],
            keyHash: hash / 7, gapBefore: random.chance(percent: 8) ? 3 : 0,
            gapAfter: random.chance(percent: 8) ? 1 : 0, kind: kind, copy: copy,
            platforms: platform.map { [$0] }, eventID: event.id, categories: event.categories,
            interests: event.interests.filter { $0.hasPrefix(Self.kind) }, users: event.users, feed: feed, run: run,
            story: event.orderKey, version: version, embargoUntil: event.embargoUntil, expiresAt: event.expiresAt,
            record: record)
    }

    private mutating func timestamp(_ at: Duration) -> Instant? {
        switch random.number(0...99) {
        case ..<5: nil
        case ..<7: Instant(milliseconds: -10_000_000_000_000)
        case ..<9: start + at + random.milliseconds(0...3_600_000)
        case ..<14: start + at - random.milliseconds(0...20_000)
        default: start + at
        }
    }

    /// Enlarges a record up to the broker's limit, with headers that results carry or with others.
    private mutating func enlarge(_ record: inout SourceRecord) {
        let room = setting.recordBytesMax - record.byteCount - 100
        guard room > 0 else { return }
        let size = random.chance(percent: 30) ? room : random.number(0...room)
        let name = random.chance(percent: 70) ? HeaderName.cloudEventPrefix + "extra" : "x-extra"
        let parts = random.number(1...3)
        for _ in 0..<parts {
            record.headers.append(RecordHeader(name: name, value: Array(repeating: 65, count: size / parts)))
        }
    }
}

/// A mark in each headline that identifies the record of a request's body.
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
