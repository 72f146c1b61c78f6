import Foundation
import NotificationHub
import Testing

@testable import BreakingNews

struct InterestStoreTests {
    @Test func `interests are followed and unfollowed, and kept for the next start`() throws {
        let store = MemoryStore()
        let (team, author) = (try NewsInterest("team:bvb"), try NewsInterest("author:4711", pattern: "by-{id}"))
        let interests = InterestStore(store)
        try interests.follow(team)
        try interests.follow(author)
        try interests.follow(try NewsInterest("team:BVB"))
        let again = InterestStore(store)
        #expect(again.followed == [team, author], "a hub does not distinguish the case of tags")
        #expect(again.followed.map(\.tag.text) == ["team_bvb", "by-4711"])
        #expect(again.followed.map(\.description) == ["team:bvb", "author:4711"])
        try again.unfollow(team)
        try again.unfollow(team)
        #expect(!interests.isFollowed(team) && interests.isFollowed(author))
    }

    @Test func `an id may have colons`() throws {
        let interest = try NewsInterest("story:2026:vote")
        #expect((interest.kind, interest.item, interest.tag.text) == ("story", "2026:vote", "story_2026:vote"))
    }

    @Test(arguments: [
        "", "bvb", ":bvb", "team:", "team:b v b", "team:münchen", "team:" + String(repeating: "x", count: 120),
    ])
    func `an interest of which no tag can be made is refused`(name: String) {
        #expect(throws: NewsInterestProblem.self) { try NewsInterest(name) }
    }

    @Test func `a reserved tag is refused`() {
        #expect(throws: NewsInterestProblem.self) { try NewsInterest("user:anna", pattern: "$UserId:{{id}}") }
    }

    @Test func `a device has at most 60 tags, of categories and interests together`() throws {
        let store = MemoryStore()
        let categories = CategoryStore(store)
        try categories.choose(Array(NewsCategory.standard.prefix(2)))
        let interests = InterestStore(store, beside: categories)
        for number in 1...58 { try interests.follow(try NewsInterest("team:\(number)")) }
        #expect(throws: NewsInterestProblem.tooMany(max: 60)) { try interests.follow(try NewsInterest("team:59")) }
        #expect(interests.followed.count == 58)
        try interests.unfollow(try NewsInterest("team:1"))
        try interests.follow(try NewsInterest("team:59"))
        let subscription = Subscription(
            channel: .apple(deviceToken: "AB"), categories: categories.chosen, interests: interests.followed)
        #expect(subscription.tags.count == Subscription.tagsMax)
    }

    @Test func `damaged values do not affect the others`() throws {
        let store = MemoryStore()
        try store.save(
            Data(#"[{"kind":"team","item":"bvb","tag":"team_bvb"},{"kind":"","item":"x","tag":"x"}]"#.utf8),
            named: "interests")
        #expect(InterestStore(store).followed.map(\.description) == ["team:bvb"])
    }

    @Test func `a subscription with too many tags is reported and not sent`() throws {
        let connection = try ConnectionString(
            parsing: "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Listen;SharedAccessKey=k")
        var plan = RegistrationPlan(
            RegistrationSettings(connection: connection, hub: try HubName("h")), record: nil, newInstallation: "d")
        let channel = PushChannel.apple(deviceToken: "AB")
        plan.want(Subscription(channel: channel, tags: try (1...61).map { try Tag("t\($0)") }))
        #expect(plan.next(at: 5) == .wait(until: nil))
        guard case .waiting(let failure) = plan.state else { throw Unreported() }
        #expect(failure.reason == .tooManyTags(count: 61))
        #expect("\(failure)" == "the device has 61 tags; a hub takes at most 60")
        plan.want(Subscription(channel: channel, tags: try (1...60).map { try Tag("t\($0)") }))
        guard case .call = plan.next(at: 6) else { throw Unreported() }
    }

    private struct Unreported: Error {}
}
