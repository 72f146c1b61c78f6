import NewsModel
import Testing

@testable import EditorialControl

@Suite struct RecentLiftsTests {
    @Test func `lifts beyond the maximum with the same time do not make each other forgotten`() {
        var lifts = RecentLifts()
        let time = Instant(milliseconds: 1_800_000_000_000)
        let scopes = (0...StandingOrders.capacity).map { ControlScope.recall(story: "s\($0)") }
        for scope in scopes { lifts.note(scope, nil, at: time) }
        #expect(scopes.count { lifts.time(of: $0) != nil } == scopes.count - scopes.count / 2)
    }
}
