import Foundation
import HubEmulator
import HubServer
import NewsModel
import NotificationHub
import TestSupport
import Testing

@Suite(.ownThread)
struct BoundTests {
    /// The README's memory limit for the default windows, in MiB, with a margin for a debug build.
    private static let bound = 192

    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `memory is bounded and does not grow behind a hub that takes two seconds`() async throws {
        let events = scale("NEWSWIRE_FIRE_BOUND_EVENTS", 200_000)
        let room = try await FireRoom(
            partitions: max(events / 3_500, 1),
            """
            lanes: {live: {topics: [news.events]}}
            rate: {perSecond: unlimited}
            """)
        room.hub.add(try HubFault(json: .object([.init("latencyMs", .integer(2_000))])))
        let padding = String(repeating: "x", count: 900)
        try room.publish(1...events) {
            #"{"id":"\#($0)","headline":"Headline \#($0).","category":"World","summary":"\#(padding)"}"#
        }
        let running = try room.run()
        // Every 64 messages take two seconds, during which growth would be visible.
        func memory(after count: Int) throws -> Int {
            while room.hub.receivedCount < count, running.isRunning { moment() }
            return try #require(running.memory, "\(running.output.suffix(2000))")
        }
        let early = try memory(after: 256)
        let late = try memory(after: 640)
        let peak = try #require(running.peakMemory)
        running.signal(SIGKILL)
        running.wait()
        print("bound test: \(events) events of 1 KB, \(early) MiB after 256, \(late) MiB after 640, peak \(peak) MiB")
        #expect(peak <= Self.bound)
        #expect(late <= early + 8)
        await room.close()
    }
}
