import EditorialControl
import NewsModel
import NotificationHub
import Testing

private let start = Instant(milliseconds: 1_795_255_200_000)

struct NameSearchTests {
    private func meaning(of name: String, _ events: (id: String?, story: String?)...) -> NameSearch.Meaning {
        var search = NameSearch(name)
        for event in events { search.note(eventID: event.id, story: event.story) }
        return search.meaning
    }

    @Test func `a name is a story, an event of a story, or unseen`() {
        #expect(meaning(of: "quake", ("e-1", "quake")) == .story)
        #expect(meaning(of: "e-1", ("e-1", nil)) == .story)
        #expect(meaning(of: "e-1", ("e-1", "quake")) == .event(of: ["quake"]))
        #expect(
            meaning(of: "e-1", ("e-1", "quake"), ("e-1", "quake"), ("e-1", "flood")) == .event(of: ["quake", "flood"]))
        #expect(meaning(of: "e-2", ("e-1", "quake"), (nil, nil)) == .unseen)
    }

    @Test func `a name that orders events is a story even if it is also an event's id`() {
        #expect(meaning(of: "quake", ("quake", "disasters"), ("e-1", "quake")) == .story)
    }

    @Test func `names that were seen are kept for suggestions, up to a limit`() {
        var search = NameSearch("x")
        for number in 0..<20_000 { search.note(eventID: "e\(number)", story: "s\(number)") }
        #expect(search.seen.count == 10_000 && search.seen.contains("e0"))
    }
}

struct StoryHistoryTests {
    private func result(
        _ id: String, _ outcome: Outcome, _ platform: Platform = .template, story: String? = "S", code: String? = nil,
        categories: [String] = ["World"], at seconds: Int64 = 0, offset: Int64 = 0, users: [String] = []
    ) -> ResultRecord {
        ResultRecord(
            eventID: id, story: story, platform: platform, outcome: outcome, categories: categories, lane: "live",
            source: .init(partition: TopicPartition(topic: "t", partition: 0), offset: offset),
            settledAt: start + .seconds(seconds), users: users, error: code.map { .init(code: $0, detail: "") })
    }

    private func history(_ results: ResultRecord...) -> StoryHistory {
        var history = StoryHistory(story: "S")
        for result in results { history.apply(result) }
        return history
    }

    @Test func `each accepted event is listed once, with its first time and all its categories`() {
        let accepted = history(
            result("b", .accepted, at: 9), result("a", .accepted, at: 5),
            result("a", .accepted, .apple, categories: ["Sports"], at: 3), result("c", .rejected),
            result("d", .accepted, story: "T"), result("S", .accepted, story: nil, at: 1, users: ["1f"])
        ).accepted
        #expect(accepted.map(\.eventID) == ["S", "a", "b"])
        #expect(accepted.map(\.categories) == [[], ["World", "Sports"], ["World"]])
        #expect(accepted.map(\.at) == [start + .seconds(1), start + .seconds(3), start + .seconds(9)])
        #expect(accepted.map(\.hasSingleReaders) == [true, false, false])
    }

    @Test func `an event is in doubt while the outcome of one of its deliveries is unknown`() {
        let history = history(
            result("a", .accepted, at: 1), result("a", .unknown, .apple, categories: ["Sports"], at: 7),
            result("a", .unknown, .fcmv1, categories: ["World"], at: 5), result("b", .unknown, at: 3),
            result("b", .accepted, at: 9), result("c", .unknown, at: 4, users: ["1f"]), result("d", .rejected),
            result("e", .unknown, story: "T"))
        #expect(history.accepted.map(\.eventID) == ["a", "b"])
        #expect(history.unknown.map(\.eventID) == ["c", "a"])
        #expect(history.unknown.map(\.at) == [start + .seconds(4), start + .seconds(5)])
        #expect(history.unknown.map { Set($0.categories) } == [[], ["World", "Sports"]])
        #expect(history.unknown.map(\.hasSingleReaders) == [true, false])
    }

    @Test func `later news for the same readers that has left or is held is found`() {
        let old = result("old", .canceled, at: 5, offset: 3)
        func later(_ results: ResultRecord...) -> [String] {
            var history = history(old)
            for result in results { history.apply(result) }
            return history.later(than: old)
        }
        #expect(later(result("b", .accepted, offset: 4), result("a", .unknown, offset: 5)) == ["a", "b"])
        #expect(later(result("a", .held, offset: 4)) == ["a"])
        #expect(later(result("a", .held, offset: 4), result("a", .superseded, offset: 9)) == [])
        #expect(later(result("a", .accepted, offset: 4), result("a", .canceled, offset: 9)) == ["a"])
        #expect(later(result("a", .accepted, at: 9, offset: 2), result("old", .accepted, offset: 9)) == [])
        #expect(later(result("a", .rejected, offset: 4), result("a", .accepted, .apple, offset: 4)) == [])
        #expect(later(result("a", .accepted, offset: 4, users: ["1f"])) == [])

        var elsewhere = result("a", .accepted, at: 6, offset: 1)
        elsewhere.source.partition.partition = 1
        #expect(later(elsewhere) == ["a"])
        elsewhere.language = "fr"
        #expect(later(elsewhere) == [])
    }

    @Test func `of texts that are put back together, the later one for the same readers overtakes the others`() {
        let old = result("old", .canceled, code: "recalled", at: 5, offset: 3)
        let new = result("new", .canceled, code: "recalled", at: 5, offset: 4)
        let both = history(old, new)
        #expect(both.later(than: old, returning: both.ended) == ["new"])
        #expect(both.later(than: new, returning: both.ended) == [])
        // Without its original, the later text cannot be put back.
        #expect(both.later(than: old, returning: [old]) == [])

        let single = result("new", .canceled, offset: 4, users: ["1f"])
        #expect(both.later(than: old, returning: [single]) == [])
        #expect(both.later(than: result("x", .canceled, users: ["1f"]), returning: [single]) == ["new"])
        #expect(both.later(than: old, returning: [result("new", .canceled, .apple, offset: 4)]) == [])
        var french = new
        french.language = "fr"
        #expect(both.later(than: old, returning: [french]) == [])
    }

    @Test func `texts are compared by their first results, although held ones come back on later places`() {
        let held = result("old", .held, at: 1, offset: 3)
        let ended = result("old", .canceled, code: "recalled", at: 9, offset: 7)
        let new = result("new", .accepted, at: 5, offset: 6)
        for results in [[held, new, ended], [ended, held, new]] {
            var history = StoryHistory(story: "S")
            for result in results { history.apply(result) }
            #expect(history.later(than: ended) == ["new"])
        }
        // The other way round, the copy that came back does not count as the later text.
        let recalled = result("new", .canceled, code: "recalled", at: 9, offset: 6)
        #expect(history(held, result("old", .accepted, at: 5, offset: 7), recalled).later(than: recalled) == [])

        var elsewhere = new
        elsewhere.source.partition.partition = 1
        #expect(history(held, elsewhere, ended).later(than: ended) == ["new"])
        elsewhere.settledAt = start
        #expect(history(held, elsewhere, ended).later(than: ended) == [])
    }

    @Test func `later news that waits overtakes a text until its result shows that it has ended`() {
        let old = result("old", .canceled, code: "recalled", at: 5, offset: 3)
        func later(
            _ event: NewsEvent, offset: Int64 = 4, origin: Int64? = nil, partition: Int32 = 0,
            _ results: ResultRecord...
        ) -> [String] {
            let lane = TopicPartition(topic: "t", partition: partition)
            var history = StoryHistory(story: "S")
            history.noteWaiting(
                event, at: .init(partition: lane, offset: offset),
                origin: origin.map { .init(partition: lane, offset: $0) })
            for result in [old] + results { history.apply(result) }
            return history.later(than: old)
        }
        let new = NewsEvent(id: "new", headline: "h", story: "S")
        #expect(later(new) == ["new"])
        #expect(later(new, offset: 2) == [] && later(new, offset: 1, partition: 1) == ["new"])
        #expect(later(new, offset: 9, origin: 2) == [])
        #expect(later(new, result("new", .rejected, offset: 4)) == [])
        #expect(later(new, result("new", .rejected, .apple, offset: 4)) == ["new"])

        #expect(later(NewsEvent(id: "old", headline: "h", story: "S")) == [])
        #expect(later(NewsEvent(id: "new", headline: "h", story: "T")) == [])
        #expect(later(NewsEvent(id: "new", headline: "h", story: "S", status: .canceled)) == [])
        #expect(later(NewsEvent(id: "new", headline: "h", story: "S", users: ["u"])) == [])
    }

    @Test func `requests in flight and processes without an answer leave the story in doubt`() {
        let recall = Instruction(id: "o", scope: .recall(story: "S"), at: start, by: "m")
        var signs = LifeSigns(capacity: 9)
        for replica in ["a", "b"] { signs.heard(.init(replica: replica, at: start, logTime: .zero)) }
        var answers = OrderAnswers(to: recall)
        #expect(StoryDoubts(answers) == StoryDoubts(isUnheard: true))
        if let order = recall.order { answers.apply(.stands(order), signs) }
        #expect(StoryDoubts(answers) == StoryDoubts(unanswered: 2, isUnheard: true))
        func answer(_ replica: String, inFlight: Int) -> AuditEntry {
            AuditEntry(
                at: start, scope: "recall/story/S", action: .recall, order: "o", replica: replica,
                applied: AppliedOrder(order: "o", inFlight: inFlight))
        }
        answers.apply(answer("a", inFlight: 0))
        #expect(StoryDoubts(answers) == StoryDoubts(unanswered: 1))
        answers.apply(answer("b", inFlight: 0))
        #expect(StoryDoubts(answers).isEmpty)
        answers.apply(answer("b", inFlight: 2))
        #expect(StoryDoubts(answers) == StoryDoubts(inFlight: 2))
    }

    @Test func `a process that has fallen silent leaves the story in doubt, apart from those that are waited for`() {
        let recall = Instruction(id: "o", scope: .recall(story: "S"), at: start, by: "m")
        var signs = LifeSigns(capacity: 9)
        signs.heard(.init(replica: "killed", at: start, logTime: .zero))
        signs.heard(.init(replica: "a", at: start, logTime: .seconds(100)))
        var answers = OrderAnswers(to: recall)
        if let order = recall.order { answers.apply(.stands(order), signs) }
        #expect(StoryDoubts(answers) == StoryDoubts(unanswered: 1, silent: 1, isUnheard: true))
        answers.apply(
            AuditEntry(
                at: start, scope: "recall/story/S", action: .recall, order: "o", replica: "a",
                applied: AppliedOrder(order: "o")))
        #expect(StoryDoubts(answers) == StoryDoubts(silent: 1) && !StoryDoubts(answers).isEmpty)
    }

    @Test func `a recall's ended deliveries are those that were not sent since`() {
        let ended = history(
            result("a", .canceled, code: "recalled", offset: 2), result("a", .duplicate, offset: 3),
            result("b", .canceled, code: "recalled", offset: 1),
            result("b", .canceled, .apple, code: "recalled", offset: 1),
            result("b", .accepted, .apple, offset: 8), result("c", .canceled, code: "canceled"),
            result("d", .canceled, code: "recalled"), result("d", .held)
        ).ended
        #expect(ended.map(\.eventID) == ["b", "a"])
        #expect(ended.map(\.platform) == [.template, .template])
    }
}
