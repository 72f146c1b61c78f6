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
