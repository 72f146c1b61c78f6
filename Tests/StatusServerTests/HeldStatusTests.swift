import Foundation
import NewsModel
import TestSupport
import Testing

/// The status of events on the held topic.
@Suite(.timeLimit(.minutes(15)))
struct HeldStatusTests {
    private static func embargoed(_ id: String, until time: String) -> String {
        #"{"id":"\#(id)","headline":"h","category":"World","embargoUntil":"\#(time)"}"#
    }

    @Test func `the status and the metrics count held events and give the next due time`() async throws {
        let room = try await StatusRoom(controls: true)
        _ = try await room.status { $0.held == .init(events: 0, ours: 0) }
        try room.newsroom.topics.publish([
            Self.embargoed("late", until: "2100-01-01T06:00:00Z"),
            Self.embargoed("soon", until: "2099-01-01T06:00:00Z"),
            Self.embargoed("later", until: "2101-01-01T06:00:00Z"),
        ])
        let status = try await room.status { $0.held?.events == 3 && $0.held?.ours == 3 && $0.settled == 3 }
        #expect(status.held?.nextDue == "2099-01-01T06:00:00.000Z")
        #expect(status.lanes.first?.outcomes == ["held": 3])
        // Records that wait a short time in the window are counted separately.
        #expect(status.lanes.first?.held == 0)
        let samples = Samples(try await room.get("/metrics").text)
        #expect(samples["newswire_held_events"] == 3)
        #expect(samples["newswire_held_events_owned"] == 3)
        try await room.close()
    }

    @Test func `without a held topic nothing is counted, and embargoed events wait in the window`() async throws {
        let room = try await StatusRoom()
        try room.newsroom.topics.publish([Self.embargoed("late", until: "2100-01-01T06:00:00Z")])
        let status = try await room.status { $0.lanes.first?.held == 1 }
        #expect(status.held == nil && status.settled == 0)
        let samples = Samples(try await room.get("/metrics").text)
        #expect(samples["newswire_held_events"] == nil)
        try await room.close()
    }
}
