import Backfill
import Foundation
import Testing

struct PublishProgressTests {
    private func progress(_ items: Int) -> PublishProgress {
        var progress = PublishProgress(topic: "t", cluster: "c")
        for number in 1...items { progress.add(published: number, UInt64(number)) }
        return progress
    }

    @Test func `items may be added later, in any order, and the whole is the same`() {
        var late = PublishProgress(topic: "t")
        late.add(published: 1, 11)
        let isAdded = late.add(absent: 2...5)
        #expect(isAdded)
        late.add(published: 6, 66)
        #expect(late.published == 2)
        #expect([2, 5, 7].allSatisfy { !late.isDone($0) } && [1, 6].allSatisfy(late.isDone))
        for number in [4, 2, 5, 3] { late.add(published: number, UInt64(number * 11)) }
        // Known items change nothing.
        late.add(published: 4, 44)
        _ = late.add(absent: 1...3)
        var straight = PublishProgress(topic: "t")
        for number in 1...6 { straight.add(published: number, UInt64(number * 11)) }
        #expect(late == straight)
    }

    @Test func `a progress without events is continued if a killed command may have written some`() {
        var progress = PublishProgress(topic: "t", cluster: "c", run: RunID("r"), begunAt: 5, bounds: "b")
        let isAdded = progress.add(absent: 1...5)
        #expect(isAdded)
        #expect(progress.continuation == nil)
        progress.coveredUntil = 7
        var beginning = PublishProgress(topic: "t", cluster: "c", run: RunID("r"), begunAt: 5, bounds: "b")
        beginning.coveredUntil = 7
        #expect(progress.continuation == beginning)
        progress.add(published: 6, 66)
        #expect(progress.continuation == progress)
    }

    @Test(
        arguments: [
            (nil, ["r"], false), (2, ["r", "r", "r"], false), (2, ["r", "r"], true), (2, ["", "s", "", ""], true),
            (2, [nil, nil, nil, "s"], false),
        ] as [(Int?, [String?], Bool)])
    func `a topic that is too short, or has another run's record, is not the one of the progress`(
        offset: Int?, runs: [String?], isFormer: Bool
    ) throws {
        var progress = PublishProgress(topic: "t", run: RunID("r"))
        progress.stored = offset.map { .init(partition: 0, offset: Int64($0)) }
        let copy = try JSONDecoder().decode(PublishProgress.self, from: JSONEncoder().encode(progress))
        #expect(copy == progress && copy.isSound)
        var found: [PublishProgress.Place: String] = [:]
        for (offset, run) in runs.enumerated() { found[.init(partition: 0, offset: Int64(offset))] = run }
        #expect(copy.isOfFormerTopic(ends: [0: Int64(runs.count)], runs: found) == isFormer)
        // The new topic has fewer partitions.
        #expect(copy.isOfFormerTopic(ends: [:], runs: [:]) == (offset != nil))
    }

    @Test func `a progress whose records are gone belongs to a former topic, whatever the topic has now`() throws {
        var progress = PublishProgress(topic: "t", run: RunID("r"))
        progress.stored = .gone
        let copy = try JSONDecoder().decode(PublishProgress.self, from: JSONEncoder().encode(progress))
        #expect(copy == progress && copy.isSound)
        #expect(copy.isOfFormerTopic(ends: [0: 1 << 40], runs: [.init(partition: 0, offset: 1): "r"]))
    }

    @Test func `the number of exceptions is limited`() {
        var progress = PublishProgress(topic: "t")
        var number = 0
        for _ in 1...PublishProgress.absentMax {
            let isAdded = progress.add(absent: number + 1...number + 3)
            #expect(isAdded)
            progress.add(published: number + 4, 1)
            number += 4
        }
        let isAdded = progress.add(absent: number + 1...number + 1)
        #expect(!isAdded)
        #expect(progress.items == number)
        progress.add(skipped: number + 1...number + 1, 1)
        #expect(progress.isDone(number + 1) && progress.published == number / 4)
        // An item in the middle of a range would split the range.
        #expect(!progress.splits(1) && !progress.splits(3) && progress.splits(2))
    }

    @Test func `items stored after missing ones are done, and the missing ones are not`() throws {
        var progress = progress(10)
        for number in [12, 15, 90] { _ = progress.add(ahead: number, UInt64(number)) }
        let isAddedTwice = progress.add(ahead: 12, 12)
        #expect(isAddedTwice)
        #expect(progress.published == 13)
        #expect((1...100).filter(progress.isDone) == Array(1...10) + [12, 15, 90])
        // The next command skips them, and stops among them again.
        for number in [11, 13, 14, 16] { progress.add(published: number, UInt64(number)) }
        _ = progress.add(ahead: 20, 20)
        let copy = try JSONDecoder().decode(PublishProgress.self, from: JSONEncoder().encode(progress))
        #expect(copy == progress)
        #expect(copy.published == 18)
        for number in 17...91 where !progress.isDone(number) { progress.add(published: number, UInt64(number)) }
        #expect(progress.published == 91)
        #expect(progress.fingerprint == self.progress(91).fingerprint)
        let isAddedFarAway = progress.add(ahead: 1_000_000, 1)
        #expect(!isAddedFarAway)
        #expect(progress.published == 91)
    }

    @Test(
        arguments: [
            (3, [], 0, 0, true), (5, [[1, 2], [4, 5]], 1, 9, true), (-1, [], 0, 0, false), (.max, [], 0, 0, false),
            (5, [], 6, 0, false), (5, [], -1, 0, false), (5, [[0, 2]], 0, 0, false), (5, [[4, 6]], 0, 0, false),
            (5, [[1, 3], [3, 4]], 0, 0, false), (5, [[.min, .max]], 0, 0, false), (5, [], 0, -1, false),
            (5, [], 0, .max, false),
        ] as [(Int, [[Int]], Int, Int, Bool)])
    func `a progress with inconsistent numbers is rejected`(
        items: Int, absent: [[Int]], skipped: Int, after: Int, isSound: Bool
    ) throws {
        let text = """
            {"topic":"t","items":\(items),"absent":\(absent),"skipped":\(skipped),"fingerprint":1,
            "ahead":{"after":\(after),"bits":"////"}}
            """
        #expect(try JSONDecoder().decode(PublishProgress.self, from: Data(text.utf8)).isSound == isSound)
    }
}
