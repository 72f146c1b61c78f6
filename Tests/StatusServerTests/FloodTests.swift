import PublishEngine
import TestSupport
import Testing

/// The status of a lane that the flood guard has stopped.
struct FloodTests {
    private func flooded() async throws -> StatusRoom {
        let room = try await StatusRoom(floodGuard: .init(sharePercent: 50, events: 20))
        try room.newsroom.topics.publish(
            (0..<60).map { #"{"id":"\#($0)","headline":"A ferry","category":"Nowhere"}"# })
        _ = try await room.status { $0.lanes.first?.flooded == true }
        return room
    }

    @Test func `the reason for not being ready has the command that ends the flood`() async throws {
        let room = try await flooded()
        let answer = try await room.get("/readyz")
        #expect(answer.status == 503)
        #expect(answer.text.contains(#""code":"flood""#))
        #expect(answer.text.contains("newswire release --config FILE --lane live"))
        try await room.close()
    }

    @Test func `resuming a flooded lane changes nothing, and the answer names the right command`() async throws {
        let room = try await flooded()
        let answer = try await room.call("POST", "/api/lanes/live/resume")
        #expect(answer.status == 409)
        #expect(answer.text.contains("POST /api/lanes/live/release"))
        try await room.close()
    }

    @Test func `a released lane continues, and the log names the caller`() async throws {
        let room = try await flooded()
        #expect(try await room.call("POST", "/api/lanes/live/release?waiting=maybe").status == 400)
        for query in ["wating=dead-letter", "waiting=dead-letter&waiting=send"] {
            #expect(try await room.call("POST", "/api/lanes/live/release?\(query)").status == 400)
        }
        #expect(try await room.call("POST", "/api/lanes/live/resume?now=true").status == 400)
        #expect(try await room.call("POST", "/api/lanes/other/release").status == 404)
        let answer = try await room.call("POST", "/api/lanes/live/release?waiting=dead-letter")
        #expect(answer.text == #"{"lane":"live","released":true,"waiting":"dead-letter"}"#)
        let status = try await room.status { $0.settled == 60 && $0.ready }
        #expect(status.lanes.first?.flooded == false)
        #expect(try await room.call("POST", "/api/lanes/live/release").status == 409)
        #expect(
            room.log.all == [
                "operator action action=release as=loopback caller=127.0.0.1 lane=live waiting=dead-letter"
            ])
        try await room.close()
    }
}
