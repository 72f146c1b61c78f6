import HTTPServing
import HubEmulator
import HubServer
import PublishEngine
import StatusServer
import TestSupport
import Testing

private let python = Python(with: "selenium")

/// Screenshots of the pages are written to the folder in `NEWSWIRE_SCREENSHOTS`, if set.
@Suite(
    .enabled(if: python != nil, "needs Python's selenium (in NEWSWIRE_TEST_PYTHON or python3)"),
    .enabled(if: Browser.isHere, "needs chromium and chromedriver"), .timeLimit(.minutes(15)), .serialized)
struct DashboardTests {
    @Test
    func `a reader without a pointer sees the service at work, finds events and pauses a lane in eight tabs`()
        async throws
    {
        let room = try await StatusRoom()
        let events = (0..<40).map { #"{"id":"event-\#($0)","headline":"Ferry \#($0)","category":"World"}"# }
        try room.newsroom.topics.publish(events + ["{", #"{"id":"<b>bold</b>","headline":"x","category":"World"}"#])
        _ = try await room.status { $0.settled == 42 }
        #expect(try await look(at: room, "working") == 0)
        try await room.close()
    }

    @Test
    func `a browser shows a halt with its remedy`() async throws {
        let room = try await StatusRoom()
        var fault = HubFault()
        fault.status = 401
        room.newsroom.hub.add(fault)
        try room.newsroom.topics.publish([#"{"id":"a","headline":"A ferry","category":"World"}"#])
        _ = try await room.status { !$0.halts.isEmpty }
        #expect(try await look(at: room, "halted") == 0)
        room.newsroom.hub.clearFaults()
        _ = try await room.status { $0.settled == 1 }
        try await room.close()
    }

    @Test
    func `a flooded lane is released by keyboard after a confirmation`() async throws {
        let room = try await StatusRoom(floodGuard: .init(sharePercent: 50, events: 20))
        try room.newsroom.topics.publish((0..<60).map { #"{"id":"\#($0)","headline":"A ferry","category":"No"}"# })
        _ = try await room.status { $0.lanes.first?.flooded == true }
        #expect(try await look(at: room, "flooded") == 0)
        _ = try await room.status { $0.settled == 60 }
        try await room.close()
    }

    @Test
    func `a story with unusual characters is recalled on the page, and the recall is lifted there`() async throws {
        let room = try await StatusRoom(controls: true)
        #expect(try await look(at: room, "orders") == 0)
        try await room.close()
    }

    @Test
    func `an editor stops, resumes and recalls beside the verdict, and sees which process has confirmed what`()
        async throws
    {
        let room = try await StatusRoom(runs: false)
        #expect(try await look(at: room, "desk") == 0)
        try await room.close()
    }

    @Test
    func `the page shows in every state where the news is blocked, and its layout does not jump`() async throws {
        let room = try await StatusRoom(runs: false)
        #expect(try await look(at: room, "scripted") == 0)
        try await room.close()
    }

    private func look(at room: StatusRoom, _ mode: String) async throws -> Int32 {
        try await #require(python).run(
            script: "dashboard.py", arguments: ["http://127.0.0.1:\(room.server.port)/", mode] + Browser.screenshots
        ).status
    }
}
