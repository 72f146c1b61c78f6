import Backfill
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EventSelectionTests {
    private static let start = Instant(milliseconds: 1_780_000_000_000)

    private func choose(_ bounds: EventSelection.Bounds, _ events: String...) throws -> [String] {
        var selection = EventSelection(EventReview(), bounds, router: try Router(), start: Self.start)
        return events.map { json in
            switch selection.choose(EventFileItem(line: 1, content: .event(Array(json.utf8)))) {
            case .event(let event, _): event.id
            case .bad: "bad"
            case .skipped: "-"
            }
        }
    }

    private func event(_ id: String, _ categories: String = "World", age: Int64? = nil) -> String {
        let names = categories.split(separator: " ").map { "\"\($0)\"" }.joined(separator: ",")
        let time = age.map { #","publishedAt":"\#((Self.start - .seconds($0)).description)""# } ?? ""
        return #"{"id":"\#(id)","headline":"h","categories":[\#(names)]\#(time)}"#
    }

    @Test func `only valid events count for the bound`() throws {
        #expect(
            try choose(.init(events: 2), event("1"), "{}", event("2"), event("3"), "{}") == [
                "1", "bad", "2", "-", "bad",
            ])
    }

    @Test func `no category gets more than its share, and an event of several counts for each`() throws {
        #expect(
            try choose(
                .init(perCategory: 1), event("1"), event("2"), event("3", "Sports World"), event("4", "Sports"),
                event("5", "Gossip"), event("6", "Gossip")) == ["1", "-", "-", "4", "5", "6"])
    }

    @Test func `old events are left out by their time of publication`() throws {
        #expect(
            try choose(.init(age: .seconds(60)), event("1", age: 60), event("2", age: 61), event("3")) == [
                "1", "-", "3",
            ])
    }

    @Test func `without a bound everything is chosen`() throws {
        #expect(try choose(.init(), event("1", age: 1_000_000), event("2")) == ["1", "2"])
    }

    @Test func `the key is the story, or the id without one`() throws {
        let review = EventReview()
        func key(_ json: String) throws -> String {
            let (event, bytes) = try review.event(EventFileItem(line: 1, content: .event(Array(json.utf8)))).get()
            let record = review.record(event, bytes, topic: "t")
            return String(decoding: try #require(record.key), as: UTF8.self)
        }
        #expect(try key("{\"id\":\"1\",\"headline\":\"h\"}") == "1")
        #expect(try key("{\"id\":\"1\",\"headline\":\"h\",\"story\":\"s\"}") == "s")
    }

    @Test func `documents of a format of their own are published as they are, and converted ones are marked`() throws {
        func at(_ pointer: String) throws -> [MemberSource] {
            [MemberSource(pointers: [try #require(JSONPointer(pointer))])]
        }
        var condition = EventFormat.Condition()
        condition.topic = "cms"
        condition.headers = [.init(name: "kind", value: "article")]
        let format = EventFormat(
            name: "cms", condition: condition,
            members: [MappedMember(.id, try at("/articleId")), MappedMember(.headline, try at("/title"))])
        let decoders = DecoderFactory(EventFormats([format]))
        let header = RecordHeader("kind", "article")
        let review = EventReview(others: [header], topic: "cms", decoders: decoders)
        let own = #"{"articleId": 7, "title": "h"}"#
        let item = EventFileItem(line: 1, content: .event(Array(own.utf8)))
        let (event, bytes) = try review.event(item).get()
        let record = review.record(event, bytes, topic: "cms", of: item)
        #expect(event.id == "7" && record.value == Array(own.utf8) && record.headers == [header])
        let csv = #"{"id": "8", "headline": "h"}"#
        let converted = EventFileItem(line: 2, content: .event(Array(csv.utf8)), isConverted: true)
        let (other, text) = try review.event(converted).get()
        #expect(other.id == "8")
        #expect(
            review.record(other, text, topic: "cms", of: converted).headers == [
                header, RecordHeader(HeaderName.format, HeaderName.builtInFormat),
            ])
        let bad = review.event(EventFileItem(line: 3, content: .event(Array(#"{"articleId": 9}"#.utf8))))
        let complaint = try #require(throws: EventReview.Complaint.self) { try bad.get() }
        #expect(complaint.reason.hasPrefix("format cms, headline from /title: "))
    }

    // MARK: Permission

    private struct Asked: Sendable {
        var urgent = false
        var named = true
        var ring = false
        var confirm: Int?
        var count: Int
        var isAllowed: Bool
    }

    @Test(arguments: [
        Asked(count: 5_000_000, isAllowed: true), Asked(ring: true, count: 1, isAllowed: false),
        Asked(ring: true, confirm: 2, count: 1, isAllowed: false),
        Asked(ring: true, confirm: 1, count: 1, isAllowed: true),
        Asked(urgent: true, named: false, count: 100, isAllowed: true),
        Asked(urgent: true, count: 101, isAllowed: false),
        Asked(urgent: true, confirm: 101, count: 101, isAllowed: true),
        Asked(urgent: true, named: false, confirm: 101, count: 101, isAllowed: false),
        Asked(urgent: true, confirm: 100, count: 101, isAllowed: false),
        Asked(urgent: true, confirm: 3, count: 4, isAllowed: false),
        Asked(urgent: true, ring: true, count: 1, isAllowed: false),
    ])
    private func `a ringing publication needs its exact number of events`(_ asked: Asked) {
        let permission = PublishPermission(
            isUrgentLane: asked.urgent, isLaneNamed: asked.named, rings: asked.ring, confirmed: asked.confirm)
        #expect((permission.refusal(count: asked.count) == nil) == asked.isAllowed)
        #expect(permission.isSilent == !(asked.urgent || asked.ring))
    }

    @Test func `without a silent form, only events that may ring are published`() {
        let silent = PublishPermission(isUrgentLane: false, isLaneNamed: true, rings: false, confirmed: nil)
        let ringing = PublishPermission(isUrgentLane: false, isLaneNamed: true, rings: true, confirmed: 1)
        #expect(silent.refusal(PayloadSettings())?.hasPrefix("these devices would ring: in template mode") == true)
        #expect(silent.refusal(PayloadSettings(templates: .standard)) == nil)
        #expect(silent.refusal(PayloadSettings(mode: .native([.apple, .fcmv1, .windows]))) == nil)
        #expect(
            silent.refusal(PayloadSettings(mode: .native([.apple, .browser])))?.contains("browser has no silent form")
                == true)
        #expect(ringing.refusal(PayloadSettings()) == nil)
    }

    // MARK: Runs

    @Test func `an unnamed run gets a name from the time at which it began`() throws {
        let wall = try #require(Instant(rfc3339: "2026-11-22T23:05:09.123Z"))
        let id = RunID(begunAt: wall, chance: 0xAB)
        #expect(id.text == "20261122-230509-000000ab")
        #expect(RunID(id.text) == id)
    }

    @Test(arguments: ["", "a b", "a/b", "ä", "a\n", String(repeating: "a", count: 65)])
    func `a name that needs quotes is refused`(text: String) {
        #expect(RunID(text) == nil)
    }
}
