import Foundation
import HubEmulator
import HubServer
import KafkaIO
import NewsModel
import NotificationHub
import TestSupport
import Testing

@Suite(.ownThread)
struct OrderTests {
    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(5)))
    func `every story arrives in the order of its versions while a tenth of the replies fail`() async throws {
        let stories = 200
        let events = 5_000
        let room = try await FireRoom(
            partitions: 4,
            """
            lanes: {live: {topics: [news.events]}}
            payload: {mode: native, platforms: [apple]}
            retry: {firstDelay: 20ms, maxDelay: 200ms, attempts: 20}
            rate: {perSecond: unlimited}
            """)
        for status in ["503", "500"] {
            room.hub.add(
                try HubFault(json: .object([.init("status", .number(status)), .init("share", .number("0.05"))])))
        }
        // Event n is version n/200 of story n%200, in the story's partition.
        try room.publish(
            0...(events - 1),
            { number in
                """
                {"id":"\(number)","headline":"Headline \(number).","category":"World","story":"s\(number % stories)",\
                "version":"\(number / stories)"}
                """
            }, partition: { $0 % stories })
        let running = try room.run("--until-caught-up")
        #expect(running.wait() == 0, "\(running.output.suffix(2000))")

        var newest: [Int: Int] = [:]
        var accepted: Set<Int> = []
        for message in room.hub.received {
            let number = try number(of: message)
            #expect(newest[number % stories] ?? -1 < number, "event \(number) after \(newest[number % stories] ?? -1)")
            newest[number % stories] = number
            accepted.insert(number)
        }
        // The newest version of every story arrives, even if it superseded others in the queue.
        #expect(newest.values.allSatisfy { $0 >= events - stories })
        #expect(newest.count == stories)
        let results = try room.results()
        #expect(results.count == events)
        #expect(Set(results.map(\.coordinates)).count == events)
        let outcomes = Dictionary(grouping: results, by: \.outcome).mapValues(\.count)
        // A delivery answered with 500 and then superseded may have been accepted.
        #expect(outcomes.keys.allSatisfy { [.accepted, .superseded, .unknown].contains($0) })
        #expect(results.filter { $0.outcome == .unknown }.allSatisfy { $0.attempts > 0 })
        #expect(outcomes[.accepted] == accepted.count)
        let retried = results.count { $0.attempts > 1 }
        #expect(retried > 0)
        print("order test: accepted \(accepted.count), superseded \(outcomes[.superseded] ?? 0), retried \(retried)")
        await room.close()
    }
}
