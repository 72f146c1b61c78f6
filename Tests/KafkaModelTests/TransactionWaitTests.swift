import KafkaModel
import Testing

struct TransactionWaitTests {
    private let begin = ContinuousClock.now
    private var wait = TransactionWait(topic: "news.results")

    @Test mutating func `an open transaction that outlasts the wait is reported with its topic`() throws {
        try wait.note(hasRead: false, isHeldUp: true, at: begin)
        try wait.note(hasRead: false, isHeldUp: true, at: begin + .milliseconds(2_900))
        let failure = #expect(throws: KafkaFailure.self) {
            try wait.note(hasRead: false, isHeldUp: true, at: begin + .seconds(3))
        }
        #expect(failure?.code == "_OPEN_TRANSACTION")
        #expect(failure?.detail.contains("news.results") == true)
    }

    @Test mutating func `a longer wait reports an open transaction only at its end`() throws {
        wait = TransactionWait(topic: "news.backfill", longest: .seconds(60))
        try wait.note(hasRead: false, isHeldUp: true, at: begin)
        try wait.note(hasRead: false, isHeldUp: true, at: begin + .seconds(59))
        #expect(throws: KafkaFailure.self) { try wait.note(hasRead: false, isHeldUp: true, at: begin + .seconds(60)) }
    }

    @Test mutating func `the wait starts again after every read and after every transaction`() throws {
        for (hasRead, isHeldUp) in [(true, true), (false, false)] {
            try wait.note(hasRead: false, isHeldUp: true, at: begin)
            try wait.note(hasRead: hasRead, isHeldUp: isHeldUp, at: begin + .seconds(4))
            try wait.note(hasRead: false, isHeldUp: true, at: begin + .seconds(5))
            try wait.note(hasRead: false, isHeldUp: true, at: begin + .seconds(7))
            wait = TransactionWait(topic: "news.results")
        }
    }
}
