import ControlIO
import EditorialControl
import KafkaModel
import NewsModel
import Testing

@testable import PublisherService

/// The problems of the held topic that make a service not ready.
@Suite struct HeldTopicTests {
    private static let missing = KafkaFailure.missing(topic: "news.held")
    private static let denied = KafkaFailure(
        code: "TOPIC_AUTHORIZATION_FAILED", detail: "Not authorized", remedy: "Grant READ.")

    private func time(_ seconds: Int64) -> Instant { Instant(milliseconds: seconds * 1_000) }

    private func reasons(
        _ state: HeldTopicState, _ status: HeldLink.Status? = nil, at seconds: Int64
    ) -> [ReadinessReason] {
        state.notReady(status, topic: "news.held", patience: .seconds(5), at: time(seconds))
    }

    @Test func `a topic that never existed is not a reason`() {
        var state = HeldTopicState()
        let isNews = state.went(Self.missing, at: time(0))
        #expect(!isNews)
        #expect(reasons(state, at: 100).isEmpty)
    }

    @Test func `a missing topic that existed is a reason until it is back, and is logged once`() {
        var state = HeldTopicState()
        let news = [
            state.appeared(), state.appeared(), state.went(Self.missing, at: time(10)),
            state.went(Self.missing, at: time(20)),
        ]
        #expect(news == [true, false, true, false])
        #expect(reasons(state, at: 15).isEmpty)
        #expect(reasons(state, at: 16).map(\.code) == ["held-topic-away"])
        let isBack = state.appeared()
        #expect(isBack)
        #expect(reasons(state, at: 16).isEmpty)
    }

    @Test func `an unreadable topic is a reason from the start, with a remedy`() throws {
        var state = HeldTopicState()
        _ = state.went(Self.denied, at: time(0))
        let reason = try #require(reasons(state, at: 6).first)
        #expect(reason.detail.contains("Not authorized"))
        #expect(reason.remedy == "it is looked for every ten seconds; grant READ")
    }

    @Test func `partitions that are not read to their end are listed`() throws {
        var state = HeldTopicState()
        _ = state.appeared()
        var status = HeldLink.Status()
        (status.behindSince, status.behind) = (time(0), Array(0..<11))
        #expect(reasons(state, status, at: 5).isEmpty)
        let reason = try #require(reasons(state, status, at: 6).first)
        #expect(reason.code == "held-not-read")
        #expect(reason.detail.contains("partitions 0, 1, 2, 3, 4, 5, 6, 7 and 3 more of news.held"))
    }

    @Test func `lanes that cannot be written are a reason`() {
        var status = HeldLink.Status()
        status.failingSince = time(0)
        #expect(reasons(HeldTopicState(), status, at: 6).map(\.code) == ["held-not-returned"])
    }

    @Test func `held events whose lane was removed are a reason that names their topic`() throws {
        var status = HeldLink.Status()
        status.overdue = HeldOverdue(count: 3, topic: "removed.news")
        let reason = try #require(reasons(HeldTopicState(), status, at: 6).first)
        #expect(reason.code == "held-not-returned")
        #expect(reason.detail.contains("3 held events") && reason.detail.contains("removed.news"))
    }
}
