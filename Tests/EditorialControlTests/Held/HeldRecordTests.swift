import EditorialControl
import KafkaModel
import NewsModel
import Testing

@Suite struct HeldRecordTests {
    private let event = HeldEvent(
        eventID: "e-1", story: "urn:story", version: .init("2"), due: Instant(milliseconds: 1_800_000_000_000),
        because: .quietHours, lane: "live",
        source: .init(partition: TopicPartition(topic: "news.events", partition: 5), offset: 42))

    private func original(key: [UInt8]?, headers: [RecordHeader] = []) -> SourceRecord {
        SourceRecord(
            offset: 42, timestamp: Instant(milliseconds: 1_700_000_000_123), key: key, value: [0, 255, 10],
            headers: headers)
    }

    /// Returns the event as decoded from the topic.
    private func read(_ event: HeldEvent, _ original: SourceRecord) -> HeldEvent {
        var read = event
        read.identity = RecordIdentity(of: original)
        read.writtenAt = original.timestamp
        return read
    }

    private func stored(_ record: ProducedRecord, at offset: Int64 = 9) -> SourceRecord {
        SourceRecord(
            offset: offset, timestamp: nil, key: record.key, value: record.value, headers: record.headers)
    }

    @Test(arguments: [nil, [], Array("urn:story".utf8), [255, 0]] as [[UInt8]?])
    func `an original returns unchanged whatever its key`(key: [UInt8]?) throws {
        let headers = [RecordHeader("ce_id", "1"), RecordHeader(name: "empty", value: nil), RecordHeader("ce_id", "2")]
        let held = HeldRecord.hold(original(key: key, headers: headers), event, topic: "news.held")
        #expect(held.key == Array("urn:story".utf8))
        #expect(held.partition == 5)
        let back = try #require(HeldRecord.original(stored(held), because: .due))
        #expect(back.topic == "news.events")
        #expect(back.partition == 5)
        #expect(back.key == key)
        #expect(back.value == [0, 255, 10])
        #expect(back.headers == headers + returned("due"))
        #expect(back.timestamp == nil)
    }

    /// The headers that a return adds.
    private func returned(_ reason: String) -> [RecordHeader] {
        [RecordHeader(HeaderName.held, reason), RecordHeader("nw-held-from", "\(event.source)")]
    }

    @Test func `a held event is decoded from headers alone`() {
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        #expect(
            HeldRecord.read(key: held.key, hasValue: true, headers: held.headers)
                == .held(read(event, original(key: nil)), since: nil))
    }

    @Test func `a held event carries the number of its incarnation, and its original does not`() throws {
        var event = event
        (event.incarnation, event.replacesFormer) = (2, true)
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        #expect(
            HeldRecord.read(key: held.key, hasValue: true, headers: held.headers)
                == .held(read(event, original(key: nil)), since: nil))
        let back = try #require(HeldRecord.original(stored(held), because: .due))
        #expect(back.headers == returned("due"))
    }

    @Test func `a due time between two milliseconds is rounded up`() {
        var event = event
        event.due = Instant(nanoseconds: 1_000_001)
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        event.due = Instant(milliseconds: 2)
        #expect(
            HeldRecord.read(key: held.key, hasValue: true, headers: held.headers)
                == .held(read(event, original(key: nil)), since: nil))
    }

    @Test func `an event held a second time carries only the second hold's headers`() throws {
        let first = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        let back = try #require(HeldRecord.original(stored(first), because: .due))
        var later = event
        later.because = .embargo
        later.source.offset = 43
        let second = HeldRecord.hold(stored(back), later, topic: "news.held")
        #expect(
            HeldRecord.read(key: second.key, hasValue: true, headers: second.headers)
                == .held(read(later, stored(back)), since: nil))
        let again = try #require(HeldRecord.original(stored(second), because: .recalled))
        #expect(again.headers.filter { $0.name != "nw-held-from" } == [RecordHeader(HeaderName.held, "recalled")])
        #expect(again.headers.contains(RecordHeader("nw-held-from", "\(event.source)")), "the first place counts")
    }

    @Test func `a rewritten record keeps its first offset`() throws {
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        let once = HeldRecord.again(stored(held, at: 9), topic: "news.held", partition: 5)
        let twice = HeldRecord.again(stored(once, at: 12), topic: "news.held", partition: 5)
        #expect(
            HeldRecord.read(key: twice.key, hasValue: true, headers: twice.headers)
                == .held(read(event, original(key: nil)), since: 9))
        let back = try #require(HeldRecord.original(stored(twice), because: .due))
        #expect(back.headers == returned("due"))
    }

    @Test func `a tombstone names the last offset it erases, and without headers erases everything before it`() {
        let tombstone = HeldRecord.tombstone(story: "s", upTo: 7, topic: "news.held", partition: 1)
        let read = HeldRecord.read(key: tombstone.key, hasValue: false, headers: tombstone.headers)
        #expect(read == .erased(story: "s", upTo: 7))
        #expect(HeldRecord.read(key: [115], hasValue: false, headers: []) == .erased(story: "s", upTo: nil))
    }

    @Test func `a tombstone names the event that it erases`() throws {
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        guard case .held(let event, _) = HeldRecord.read(key: held.key, hasValue: true, headers: held.headers) else {
            Issue.record("the record holds no event")
            return
        }
        let original = try #require(HeldOriginal(of: event))
        let tombstone = HeldRecord.tombstone(
            story: "s", upTo: 7, original: original, topic: "news.held", partition: 1)
        let read = HeldRecord.read(key: tombstone.key, hasValue: false, headers: tombstone.headers)
        #expect(read == .erased(story: "s", upTo: 7, original: original))
    }

    @Test func `a tombstone of a vanished event names it by hashes and erases no other event of the story`() throws {
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        guard case .held(let event, _) = HeldRecord.read(key: held.key, hasValue: true, headers: held.headers) else {
            Issue.record("the record holds no event")
            return
        }
        let original = try #require(HeldOriginal(of: event))
        let vanished = HeldState.Vanished(story: 7 << 60, place: HeldPlace(1, 4), original: original)
        let tombstone = HeldRecord.tombstone(vanished, topic: "news.held")
        #expect(tombstone.partition == 1 && tombstone.value == nil && tombstone.key != held.key)
        let read = HeldRecord.read(key: tombstone.key, hasValue: false, headers: tombstone.headers)
        #expect(read == .vanished(story: 7 << 60, at: 4, original: original))
        let headers = tombstone.headers.filter { $0.name != "nw-held-original" }
        #expect(HeldRecord.read(key: tombstone.key, hasValue: false, headers: headers) == .unreadable)
    }

    @Test(
        arguments: [
            ("nw-source", "news.events/x/1"), ("nw-lane", nil), ("nw-event", nil), ("nw-held-due", "soon"),
            ("nw-held-due", "99999999999999999999"), ("nw-held-because", "mood"), ("nw-source", nil),
        ] as [(String, String?)])
    func `a record with invalid headers is rejected`(name: String, text: String?) {
        var held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        held.headers.removeAll { $0.name == name }
        if let text { held.headers.append(RecordHeader(name, text)) }
        #expect(HeldRecord.read(key: held.key, hasValue: true, headers: held.headers) == .unreadable)
        #expect(HeldRecord.original(stored(held), because: .due) == nil)
    }

    @Test func `a record without a key, or with a key that is not text, is rejected`() {
        let held = HeldRecord.hold(original(key: nil), event, topic: "news.held")
        #expect(HeldRecord.read(key: nil, hasValue: true, headers: held.headers) == .unreadable)
        #expect(HeldRecord.read(key: [255], hasValue: false, headers: []) == .unreadable)
    }
}
