import ByteText
import KafkaModel
import NewsModel
import Testing

@Suite struct RecordDraftTests {
    @Test func `a draft becomes the record that was written, and keeps nothing of the one before`() {
        var draft = RecordDraft()
        draft.begin(topic: "first", partition: 7)
        draft.writeKey { $0.append("a long key" as String) }
        draft.writeValue { $0.append(decimal: UInt64.max) }
        draft.addHeader("h") { $0.append("v" as String) }
        #expect(
            ProducedRecord(draft)
                == ProducedRecord(
                    topic: "first", partition: 7, key: Array("a long key".utf8), value: Array("\(UInt64.max)".utf8),
                    headers: [RecordHeader("h", "v")]))
        draft.begin(topic: "second", partition: nil)
        #expect(ProducedRecord(draft) == ProducedRecord(topic: "second", value: nil))
    }

    @Test func `absent bytes differ from empty ones, and headers keep their order`() {
        let headers = [
            RecordHeader(name: "twice", value: [1]), RecordHeader(name: "twice", value: [2]),
            RecordHeader(name: "null", value: nil), RecordHeader(name: "empty", value: []),
            RecordHeader(name: "ünï", value: Array(repeating: 7, count: 5_000)),
        ]
        var draft = RecordDraft()
        for _ in 0..<2 {
            draft.begin(topic: "t", partition: 0)
            draft.writeValue { _ in }
            for header in headers { draft.addHeader(header) }
            #expect(ProducedRecord(draft) == ProducedRecord(topic: "t", partition: 0, value: [], headers: headers))
        }
    }
}
