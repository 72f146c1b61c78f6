import Backfill
import ByteText
import NewsModel
import Testing

/// A publication that is killed at any moment, against a model of the topic.
struct PublicationStateTests {
    private struct Model {
        /// The events on the topic, with the times at which they were written.
        var topic: [(event: [UInt8], at: Instant)] = []
        var saved = PublishProgress(topic: "t", begunAt: 0)
        var now = Instant(milliseconds: 0)
        var chance: SeededRandom

        /// Runs the command. A kill may store any of the records in flight, and loses what was not saved.
        ///
        /// - Returns: `true` if the command has reached the end of the file.
        mutating func publish(_ items: [EventFileItem], killPercent: Int) -> Bool {
            var part = PublishedPart(saved)
            for item in items where !part.isRead { part.read(item) }
            #expect(part.isUnchanged)
            var state = PublicationState(
                saved, current: saved, selection: EventSelection(EventReview(), start: .distantPast), sent: 0, at: now)
            if killPercent > 0, happens(10) {
                // Interrupted before the search has found anything.
                state.found(EventsOnTopic(), isComplete: false)
                save(&state, 0, answered: 0)
                return false
            }
            var found = EventsOnTopic()
            for written in topic where written.at >= state.unrecordedSince ?? .distantPast { found.add(written.event) }
            state.found(found)
            var inFlight: [[UInt8]] = []
            var sent = 0
            for item in items {
                now = now + .milliseconds(1)
                if case .write(_, let event) = state.decide(item) {
                    state.sent(index: sent)
                    sent += 1
                    inFlight.append(event)
                }
                while !inFlight.isEmpty, happens(40) { topic.append((inFlight.removeFirst(), now)) }
                if happens(20) { save(&state, sent, answered: sent - inFlight.count) }
                guard happens(killPercent) else { continue }
                for event in inFlight where happens(50) { topic.append((event, now)) }
                return false
            }
            for event in inFlight { topic.append((event, now)) }
            save(&state, sent, answered: sent)
            return true
        }

        private mutating func save(_ state: inout PublicationState, _ sent: Int, answered: Int) {
            state.settle(before: answered)
            state.cover(answered: answered, sent: sent, at: now)
            saved = state.progress
        }

        mutating func happens(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &chance) < percent }
    }

    private func item(_ number: Int, isBad: Bool) -> EventFileItem {
        let json = #"{"id":"\#(number)","headline":"h"}"#
        return EventFileItem(line: number, content: isBad ? .bad("no event") : .event(Array(json.utf8)))
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `a command that is killed again and again writes every event once`(seed: UInt64) {
        var model = Model(chance: SeededRandom(seed: seed))
        var bad = Set((1...60).filter { _ in model.happens(10) })
        var items: [EventFileItem] { (1...60).map { item($0, isBad: bad.contains($0)) } }
        for _ in 1...100 where !model.publish(items, killPercent: 5) {}
        // The bad lines are mended, and a further command publishes only them.
        bad = []
        for _ in 1...100 where !model.publish(items, killPercent: 5) {}
        let isComplete = model.publish(items, killPercent: 0)
        #expect(isComplete)
        let written = model.topic.map { String(decoding: $0.event, as: UTF8.self) }.sorted()
        #expect(written == (1...60).map { #"{"id":"\#($0)","headline":"h"}"# }.sorted())
    }

    @Test func `a record that the broker refuses is a bad line, and the next command retries it`() throws {
        let items = (1...3).map { item($0, isBad: false) }
        let selection = EventSelection(EventReview(), start: .distantPast)
        let now = Instant(milliseconds: 0)
        var state = PublicationState(PublishProgress(topic: "t"), current: nil, selection: selection, sent: 0, at: now)
        for (index, item) in items.enumerated() {
            guard case .write = state.decide(item) else {
                Issue.record("\(item)")
                return
            }
            state.sent(index: index)
        }
        let line = state.refused(index: 1)
        #expect(line == 2)
        state.settle(before: 3)
        #expect(state.progress.absent == [2...2] && state.progress.published == 2)
        var next = PublicationState(state.progress, current: nil, selection: selection, sent: 0, at: now)
        let decisions = items.map { item in
            if case .write(let event, _) = next.decide(item) { event.id } else { "-" }
        }
        #expect(decisions == ["-", "2", "-"])
    }

    @Test func `a bad line after one that an earlier command has recorded is recorded too`() {
        let selection = EventSelection(EventReview(), start: .distantPast)
        var progress = PublishProgress(topic: "t")
        _ = progress.add(absent: 1...1)
        var state = PublicationState(
            progress, current: nil, selection: selection, sent: 0, at: Instant(milliseconds: 0))
        for number in 1...3 { _ = state.decide(item(number, isBad: number < 3)) }
        state.sent(index: 0)
        state.settle(before: 1)
        #expect(state.progress.absent == [1...2] && state.progress.published == 1)
    }

    @Test func `records after an unanswered one count when no answer comes any more`() throws {
        var state = PublicationState(
            PublishProgress(topic: "t"), current: nil, selection: EventSelection(EventReview(), start: .distantPast),
            sent: 0, at: Instant(milliseconds: 0))
        for index in 0..<4 {
            _ = state.decide(item(index + 1, isBad: false))
            state.sent(index: index)
        }
        state.settle(before: 1)
        let repeated = state.conclude { $0 == 0 || $0 == 2 }
        #expect(repeated == 0)
        #expect((1...4).filter(state.progress.isDone) == [1, 3])
    }

    @Test(
        arguments: [
            ("u", nil, nil, "was partly published to topic t by a command that did not finish; finish it first"),
            (
                "t", "d", nil,
                "was partly published to topic t of another Kafka cluster by a command that did not finish"
            ),
            ("t", "c", "other", "was partly published as run r, and not other; finish that run first"),
            ("t", "c", "r", nil), ("t", nil, nil, nil),
        ] as [(String, String?, String?, String?)])
    func `a progress of another topic, cluster or run is not continued`(
        topic: String, cluster: String?, run: String?, obstacle: String?
    ) {
        let progress = PublishProgress(topic: "t", cluster: "c", run: RunID("r"))
        let found = progress.obstacle(to: PublishProgress(topic: topic, cluster: cluster), run: run)
        #expect((found == nil) == (obstacle == nil) && found?.hasPrefix(obstacle ?? "") ?? true, "\(found ?? "")")
    }

    @Test(
        arguments: [
            ("", "", true), ("--max-events 5", "--max-events 5", true), ("--max-events 5", "", false),
            ("", "--max-events 5", false), (nil, "--max-events 5", true),
        ] as [(String?, String, Bool)])
    func `a progress is continued with the same bounds only`(former: String?, bounds: String, isContinued: Bool) {
        let progress = PublishProgress(topic: "t", bounds: former)
        #expect((progress.obstacle(to: PublishProgress(topic: "t", bounds: bounds), run: nil) == nil) == isContinued)
    }

    @Test func `bounds are named as on the command line`() {
        #expect(EventSelection.Bounds().options.isEmpty)
        let all = EventSelection.Bounds(events: 5, perCategory: 2, age: .seconds(60))
        #expect(all.options == "--max-events 5 --max-per-category 2 --max-age 60s")
    }

    @Test(
        arguments: [
            (true, false, 500, 100), (true, true, 500, 500), (false, false, 500, 500), (true, false, nil, 100),
        ] as [(Bool, Bool, Int?, Int)])
    func `a stream rings as many events as a file`(isUrgent: Bool, isNamed: Bool, confirmed: Int?, most: Int) {
        let permission = PublishPermission(
            isUrgentLane: isUrgent, isLaneNamed: isNamed, rings: false, confirmed: confirmed)
        #expect(permission.countMax == most)
    }
}
