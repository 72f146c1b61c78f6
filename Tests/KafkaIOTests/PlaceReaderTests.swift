import KafkaModel
import NewsModel
import TestSupport
import Testing

@testable import KafkaIO

@Suite(.ownThread, .timeLimit(.minutes(15))) struct PlaceReaderTests {
    @Test func `records are read from their places, and missing ones are reported`() throws {
        let broker = try Broker(("held", 2))
        let publisher = try RecordPublisher(settings: broker.settings)
        for index in 0..<1_000 {
            try publisher.publish(
                ProducedRecord(topic: broker.topic("held"), partition: Int32(index % 2), value: Array("\(index)".utf8)))
        }
        try publisher.flush()
        let reader = try PlaceReader(settings: broker.settings, topic: broker.topic("held"), partitions: 2)
        // The second pass begins before the first has reached its end.
        for places in [[0: [3, 4, 499], 1: [0, 777]], [0: [0, 1], 1: []]] as [[Int32: [Int64]]] {
            try reader.begin(places)
            var found: [String] = []
            var missing: [Int64] = []
            while !reader.isDone {
                for event in try reader.next(timeout: .seconds(1)) {
                    switch event {
                    case .found(let partition, let record):
                        #expect(places[partition]?.contains(record.offset) == true)
                        found.append(String(decoding: record.value ?? [], as: UTF8.self))
                    case .missing(_, let offset): missing.append(offset)
                    }
                }
            }
            #expect(found.sorted() == (places[0] == [0, 1] ? ["0", "2"] : ["1", "6", "8", "998"]))
            #expect(missing == (places[0] == [0, 1] ? [] : [777]))
        }
    }

    /// The topic was recreated and is shorter now.
    @Test func `a place far beyond the end of a partition is reported as missing`() throws {
        let broker = try Broker(("held", 1))
        let publisher = try RecordPublisher(settings: broker.settings)
        for _ in 0..<10 {
            try publisher.publish(ProducedRecord(topic: broker.topic("held"), partition: 0, value: [1]))
        }
        try publisher.flush()
        let reader = try PlaceReader(settings: broker.settings, topic: broker.topic("held"), partitions: 1)
        try reader.begin([0: [100_000, 200_000]])
        var missing: [Int64] = []
        for _ in 0..<60 where !reader.isDone {
            for case .missing(_, let offset) in try reader.next(timeout: .seconds(1)) { missing.append(offset) }
        }
        #expect(missing == [100_000, 200_000])
    }

    @Test func `a walk whose start is beyond the end of its partition reports all that is left as missing`() {
        var walk = PlaceWalk([100_000, 200_000])
        #expect(walk.begin() == 100_000)
        let step = walk.reach(0)
        #expect(step.missing == [100_000, 200_000] && !step.isWanted && step.next == .done)
    }

    @Test func `a walk reports passed offsets as missing, and jumps only over long stretches`() {
        var walk = PlaceWalk([2, 5, 9, 9_000, 9_001])
        #expect(walk.reach(2).next == .here)
        let step = walk.reach(9)
        #expect(step.missing == [5])
        #expect(step.isWanted)
        #expect(step.next == .jump)
        #expect(Array(walk.left) == [9_000, 9_001])
        let last = walk.reach(20_000)
        #expect(last.missing == [9_000, 9_001])
        #expect(!last.isWanted)
        #expect(last.next == .done)
    }
}
