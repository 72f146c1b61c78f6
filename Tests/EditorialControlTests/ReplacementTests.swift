import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import Testing

private let start = Instant(milliseconds: 1_795_255_200_000)
private let later = start + .seconds(3_600)

struct ReplacementTests {
    private func result(
        _ id: String, _ outcome: Outcome, story: String? = nil, categories: [String] = ["World"], at seconds: Int64 = 0,
        afterRecall: Bool = false, users: [String] = [], offset: Int64 = 7, error: ResultRecord.Failure? = nil,
        platform: Platform = .template
    ) -> ResultRecord {
        ResultRecord(
            eventID: id, story: story, platform: platform, outcome: outcome, categories: categories, lane: "live",
            source: .init(partition: TopicPartition(topic: "news.events", partition: 3), offset: offset),
            settledAt: start + .seconds(seconds), afterRecall: afterRecall, users: users, error: error)
    }

    private let order = Order(id: "o1", scope: .recall(story: "S"), at: later, by: "m", replacement: "Withdrawn")

    @Test func `a replacement goes to the story's categories and partition, and expires after a day`() throws {
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", .accepted))
        replacement.apply(result("b", .accepted, story: "S", categories: ["World", "Politics"], at: 5))
        replacement.apply(result("c", .rejected, story: "S", categories: ["Sports"]))
        replacement.apply(result("d", .accepted, story: "T", categories: ["Business"]))
        replacement.apply(result("S", .accepted, story: "U", categories: ["Science"]))
        let record = try #require(replacement.records("Withdrawn", for: order).first)
        #expect((record.topic, record.partition) == ("news.events", 3))
        #expect(record.headers.first { $0.name == HeaderName.replacement }?.text == "o1")
        let event = try NewsDecoder().decode(SourceRecord(offset: 0, value: record.value))
        #expect(event.categories == ["World", "Politics"])
        #expect((event.orderKey, event.headline) == ("S", "Withdrawn"))
        #expect(event.expiresAt == later + .seconds(86_400))
        #expect(event.urgency == 9)
        #expect(replacement.reach == ["World", "Politics"])
    }

    @Test func `a replacement names the group whose readers have the story`() throws {
        var replacement = Replacement(story: "S", group: "sport")
        replacement.apply(result("S", .accepted))
        let record = try #require(replacement.records("Withdrawn", for: order).first)
        #expect(record.headers.first { $0.name == HeaderName.group }?.text == "sport")
    }

    @Test func `a replacement written by a desk whose clock is behind is as old as the processes' clocks say`() throws {
        var replacement = Replacement(story: "S", at: later + .seconds(700_000))
        replacement.apply(result("S", .accepted))
        let record = try #require(replacement.records("Withdrawn", for: order).first)
        #expect(record.timestamp == later + .seconds(700_000))
        let event = try NewsDecoder().decode(SourceRecord(offset: 0, value: record.value))
        #expect(event.expiresAt == later + .seconds(700_000 + 86_400))
    }

    @Test(arguments: [Outcome.rejected, .exhausted, .unknown, .canceled, .held, .duplicate])
    func `a story that the hub never accepted gets no replacement`(outcome: Outcome) {
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", outcome))
        #expect(replacement.records("Withdrawn", for: order).isEmpty)
        #expect(replacement.reach == [])
    }

    @Test func `each language whose readers have the story gets a replacement of its own`() throws {
        var replacement = Replacement(story: "S")
        for (language, category) in [("en", "World"), ("de", "Sports"), ("en", "Politics")] {
            var result = result("S", .accepted, categories: [category])
            result.language = language
            replacement.apply(result)
        }
        var unknown = result("S", .unknown, categories: ["World"])
        unknown.language = "fr"
        replacement.apply(unknown)
        let events = try replacement.records("Withdrawn", for: order).map {
            try NewsDecoder().decode(SourceRecord(offset: 0, value: $0.value))
        }
        #expect(events.map(\.language) == ["de", "en"])
        #expect(events.map(\.categories) == [["Sports"], ["World", "Politics"]])
        #expect(replacement.reach == ["Sports", "World", "Politics"])
        #expect(replacement.doubtful == ["World (fr)"])
    }

    @Test func `a replacement goes to followers too`() throws {
        var replacement = Replacement(story: "S")
        var followed = result("S", .accepted, categories: [])
        followed.interests = ["team:bvb", "author:1"]
        replacement.apply(followed)
        var unknown = result("b", .unknown, story: "S", categories: [])
        unknown.interests = ["team:s04", "team:bvb"]
        replacement.apply(unknown)
        let record = try #require(replacement.records("Withdrawn", for: order).first)
        let event = try NewsDecoder().decode(SourceRecord(offset: 0, value: record.value))
        #expect(event.categories == [] && event.interests == ["team:bvb", "author:1"])
        #expect(replacement.reach == ["team:bvb", "author:1"] && replacement.doubtful == ["team:s04"])
    }

    @Test func `an event for single readers is not replaced for the readers of its categories`() throws {
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", .accepted, users: ["1f"], offset: 8))
        #expect(replacement.records("Withdrawn", for: order).isEmpty)
        #expect(replacement.originals.map(\.offset) == [8])
        #expect(replacement.reach == [])
    }

    @Test func `single readers get one replacement each, built from the events that named them`() throws {
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", .accepted, categories: ["Sports"]))
        replacement.apply(result("a", .accepted, story: "S", users: ["1f"], offset: 8))
        let originals = [
            #"{"id":"a","story":"S","headline":"h","category":"World","users":["anna","ben"]}"#,
            #"{"id":"b","story":"S","headline":"h","users":["ben","anna"]}"#,
            #"{"id":"c","story":"S","headline":"h","users":["ben"]}"#,
            #"{"id":"d","story":"S","headline":"h","category":"World"}"#,
            #"{"id":"e","story":"T","headline":"h","users":["carl"]}"#, "{",
        ]
        let partition = TopicPartition(topic: "news.events", partition: 3)
        let records = originals.compactMap { original in
            replacement.record(
                "Withdrawn", for: order, inPlaceOf: SourceRecord(offset: 8, value: Array(original.utf8)), at: partition)
        }
        let events = try records.map { try NewsDecoder().decode(SourceRecord(offset: 0, value: $0.value)) }
        #expect(events.map(\.users) == [["anna", "ben"], ["ben"]])
        #expect(events.map(\.id) == ["replacement-o1-1", "replacement-o1-2"])
        #expect(events.map(\.headline) == ["Withdrawn", "Withdrawn"])
        #expect(records.allSatisfy { $0.headers.contains { $0.name == HeaderName.replacement && $0.text == "o1" } })
        #expect(replacement.reach == ["Sports", Replacement.singleReaders])
    }

    @Test func `single readers whom an original in a format of its own names get a replacement in our shape`() throws {
        var replacement = Replacement(story: "S")
        replacement.apply(result("a", .accepted, story: "S", users: ["1f"], offset: 8))
        func at(_ pointer: String) throws -> [MemberSource] {
            [MemberSource(pointers: [try #require(JSONPointer(pointer))])]
        }
        var condition = EventFormat.Condition()
        condition.topic = "news.events"
        let format = EventFormat(
            name: "cms", condition: condition,
            members: [
                MappedMember(.id, try at("/articleId")), MappedMember(.headline, try at("/title")),
                MappedMember(.story, try at("/series")), MappedMember(.users, try at("/readers")),
            ])
        let formats = EventFormats([format])
        let original = #"{"articleId": 1, "title": "h", "series": "S", "readers": ["anna"]}"#
        let made = replacement.record(
            "Withdrawn", for: order, inPlaceOf: SourceRecord(offset: 8, value: Array(original.utf8)),
            at: TopicPartition(topic: "news.events", partition: 3), decoder: NewsDecoder(formats: formats))
        let record = try #require(made)
        let event = try NewsDecoder(formats: formats).decode(
            SourceRecord(offset: 0, value: record.value, headers: record.headers), topic: record.topic)
        #expect(event.users == ["anna"] && event.headline == "Withdrawn")
    }

    @Test func `a replacement goes to the platforms that accepted the story`() throws {
        func platforms(_ record: ProducedRecord?) -> String? {
            record?.headers.first { $0.name == HeaderName.platform }?.text
        }
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", .accepted, platform: .windows))
        replacement.apply(result("S", .canceled, platform: .fcmv1))
        replacement.apply(result("S", .accepted, platform: .apple))
        replacement.apply(result("a", .accepted, story: "S", users: ["1f"], offset: 8, platform: .fcmv1))
        #expect(platforms(replacement.records("Withdrawn", for: order).first) == "apple,windows")
        let original = #"{"id":"a","story":"S","headline":"h","users":["anna"]}"#
        let record = replacement.record(
            "Withdrawn", for: order, inPlaceOf: SourceRecord(offset: 8, value: Array(original.utf8)),
            at: TopicPartition(topic: "news.events", partition: 3))
        #expect(platforms(record) == "fcmv1")
    }

    @Test func `a story that was on no lane is replaced on the most urgent lane`() throws {
        var replacement = Replacement(story: "S", topics: ["news.live", "news.events"])
        replacement.apply(result("S", .accepted))
        #expect(try #require(replacement.records("Withdrawn", for: order).first).topic == "news.events")
        replacement = Replacement(story: "S", topics: ["news.live"])
        replacement.apply(result("S", .accepted))
        let record = try #require(replacement.records("Withdrawn", for: order).first)
        #expect((record.topic, record.partition) == ("news.live", nil))
    }

    @Test func `results that a recall's answers counted as in flight are late`() {
        var replacement = Replacement(story: "S", recalledAt: start)
        replacement.apply(result("S", .accepted))
        #expect(replacement.lateOutcomes == 0)
        replacement.apply(result("b", .accepted, story: "S", afterRecall: true))
        replacement.apply(result("c", .unknown, story: "S", afterRecall: true))
        #expect(replacement.lateOutcomes == 2)
        // This request was not in flight at the recall.
        replacement.apply(result("d", .unknown, story: "S"))
        // This result follows an earlier recall.
        replacement.apply(result("e", .accepted, story: "S", at: -60, afterRecall: true))
        #expect(replacement.lateOutcomes == 2)
        replacement.apply(result("f", .accepted, story: "S", at: -60), isNew: true)
        replacement.apply(result("g", .unknown, story: "S", error: .init(code: "recalled", detail: "d")))
        #expect(replacement.lateOutcomes == 4)
        // The recall has ended this delivery, so its answer did not count it as in flight.
        replacement.apply(result("h", .canceled, story: "S"), isNew: true)
        #expect(replacement.lateOutcomes == 4)
    }

    @Test func `the requests of a send are in flight until each has a result, and are not counted as late`() {
        let audit = TopicPartition(topic: "news.audit", partition: 0)
        var sends = AnnouncedSends(story: "S", group: "g")
        for (offset, story, group) in [(4, "S", "g"), (5, "T", "g"), (6, "S", "other")] as [(Int64, String, String)] {
            let line = AuditEntry.send(
                NewsEvent(id: story, headline: "h"), at: start, by: "m", reason: nil, despite: [],
                requests: AnnouncedRequests(story: story, group: group, count: 2))
            sends.apply(line, at: .init(partition: audit, offset: offset))
        }
        var replacement = Replacement(story: "S", recalledAt: start, sends: sends)
        var history = StoryHistory(story: "S", sends: sends)
        #expect(history.sends.inFlight == 2 && history.sends.unsettled == ["S"])
        func settle(_ platform: Platform) {
            var result = result("S", .accepted, platform: platform)
            result.source = .init(partition: audit, offset: 4)
            replacement.apply(result, isNew: true)
            history.apply(result)
        }
        settle(.apple)
        #expect(replacement.sends.inFlight == 1 && replacement.doubtful == [Replacement.openSends])
        settle(.fcmv1)
        #expect(replacement.sends.inFlight == 0 && replacement.doubtful.isEmpty && replacement.lateOutcomes == 0)
        #expect(history.sends.inFlight == 0 && history.sends.unsettled.isEmpty)
    }

    @Test func `readers for whom all outcomes are unknown get no replacement and are named`() {
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", .unknown, categories: ["World", "Sports"]))
        replacement.apply(result("b", .unknown, story: "S", users: ["1f"], offset: 8))
        #expect(replacement.doubtful == ["World", "Sports", Replacement.singleReaders])
        replacement.apply(result("b", .accepted, story: "S", users: ["1f"], offset: 8))
        replacement.apply(result("c", .accepted, story: "S"))
        #expect(replacement.doubtful == ["Sports"])
    }

    @Test func `readers whom an accepted result does not name are in doubt`() {
        var replacement = Replacement(story: "S")
        replacement.apply(result("S", .accepted, categories: []))
        #expect(replacement.records("Withdrawn", for: order).isEmpty)
        #expect(replacement.doubtful == [Replacement.unnamedReaders])
    }

    @Test func `removed results leave a doubt if no others name the readers`() {
        var replacement = Replacement(story: "S")
        replacement.lacksResults = true
        #expect(replacement.doubtful == [Replacement.lostResults])
        replacement.apply(result("S", .accepted))
        #expect(replacement.doubtful.isEmpty)
        var doubts = StoryDoubts()
        doubts.lacksResults = true
        #expect(!doubts.isEmpty && WrittenReplacement().leavesDoubt(doubts))
    }

    @Test func `a replacement leaves a doubt if readers may have the story without it`() {
        var written = WrittenReplacement()
        #expect(!written.leavesDoubt(StoryDoubts()))
        // The outcomes of the requests in flight have arrived since.
        #expect(!written.leavesDoubt(StoryDoubts(inFlight: 2)))
        #expect(written.leavesDoubt(StoryDoubts(unanswered: 1)))
        written.unsettled = 1
        #expect(written.leavesDoubt(StoryDoubts(inFlight: 2)))
        #expect(written.remaining(StoryDoubts(inFlight: 2)) == StoryDoubts(inFlight: 1))
        written.reach = ["World"]
        #expect(!written.leavesDoubt(StoryDoubts(inFlight: 2)))
        written.doubtful = ["Sports"]
        #expect(written.leavesDoubt(StoryDoubts()))
    }
}
