import EditorialControl
import NewsModel
import Testing

struct NamedStoryTests {
    private func search(_ events: (id: String, story: String?)...) -> NameSearch {
        var search = NameSearch("e-1")
        for event in events { search.note(eventID: event.id, story: event.story) }
        return search
    }

    private func orders(_ stories: String...) -> StandingOrders {
        var orders = StandingOrders()
        for story in stories {
            orders.apply(.stands(Order(id: "o", scope: .recall(story: story), at: .distantPast, by: "m")))
        }
        return orders
    }

    @Test func `a story is recalled as its events spell it, in whatever spelling it was named`() throws {
        var search = NameSearch("m\u{FC}nchen")
        search.note(eventID: "b", story: "mu\u{308}nchen")
        let named = try NamedStory(search, StandingOrders(), isLift: false)
        #expect(named.story.utf8.elementsEqual("mu\u{308}nchen".utf8))
        search.note(eventID: "c", story: "m\u{FC}nchen")
        let exact = try NamedStory(search, StandingOrders(), isLift: false)
        #expect(exact.story.utf8.elementsEqual("m\u{FC}nchen".utf8))
    }

    @Test func `a story that is also the id of an event of another story names that one too`() throws {
        var search = NameSearch("a")
        search.note(eventID: "b", story: "a")
        search.note(eventID: "a", story: "s")
        let named = try NamedStory(search, StandingOrders(), isLift: false)
        #expect(named.story == "a" && named.found == .story && named.others == ["s"])
    }

    @Test func `the id of an event stands for its story, unless it is itself a story or recalled`() throws {
        #expect(try NamedStory(search(("e-1", "quake")), orders(), isLift: false).story == "quake")
        #expect(try NamedStory(search(("e-1", "quake"), ("e-1", nil)), orders(), isLift: false).story == "e-1")
        #expect(try NamedStory(search(("e-1", "quake")), orders("e-1"), isLift: false).story == "e-1")
    }

    @Test func `an event of several stories is ambiguous, unless a lift finds one of them recalled`() throws {
        let search = search(("e-1", "quake"), ("e-1", "flood"))
        #expect(throws: NameProblem.ambiguous("e-1", ["quake", "flood"])) {
            try NamedStory(search, orders("flood"), isLift: false)
        }
        #expect(try NamedStory(search, orders("flood"), isLift: true).story == "flood")
    }

    @Test func `an unseen name is refused for a recall and kept for a lift`() throws {
        #expect(throws: NameProblem.unseen("e-1")) { try NamedStory(search(), orders(), isLift: false) }
        let lifted = try NamedStory(search(), orders(), isLift: true)
        #expect((lifted.story, lifted.found) == ("e-1", .unseen))
    }
}
