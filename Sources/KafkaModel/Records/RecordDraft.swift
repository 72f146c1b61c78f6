package import ByteText
package import NewsModel

/// A record for the producer, written into reused memory. Separate arrays for key, value and headers would cost more
/// than writing them. The memory grows to the largest record.
public struct RecordDraft: ~Copyable {
    public private(set) var topic = ""
    public private(set) var partition: Int32?
    /// The key, value and headers in sequence.
    private var bytes = GrowingBytes(capacity: 2_048)
    private var keyRange: Range<Int>?
    private var valueRange: Range<Int>?
    private var headerRanges: [(name: Range<Int>, value: Range<Int>?)] = []

    public init() {}

    /// Discards the last record.
    package mutating func begin(topic: String, partition: Int32?) {
        self.topic = topic
        self.partition = partition
        bytes.removeAll()
        keyRange = nil
        valueRange = nil
        headerRanges.removeAll(keepingCapacity: true)
    }

    package mutating func writeKey(_ write: (inout GrowingBytes) -> Void) {
        keyRange = append(write)
    }

    package mutating func writeValue(_ write: (inout GrowingBytes) -> Void) {
        valueRange = append(write)
    }

    package mutating func addHeader(_ name: String, _ write: (inout GrowingBytes) -> Void) {
        let name = append { $0.append(name) }
        headerRanges.append((name, append(write)))
    }

    package mutating func addHeader(_ header: RecordHeader) {
        if let value = header.value {
            addHeader(header.name) { bytes in value.withUnsafeBufferPointer { bytes.append($0) } }
        } else {
            headerRanges.append((append { $0.append(header.name) }, nil))
        }
    }

    /// `nil` when absent; valid until the next change, like the other bytes that a draft lends.
    package var key: UnsafeRawBufferPointer? { lend(keyRange) }

    package var value: UnsafeRawBufferPointer? { lend(valueRange) }

    package var headerCount: Int { headerRanges.count }

    package func forEachHeader(_ body: (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?) -> Void) {
        for header in headerRanges { body(lend(header.name), lend(header.value)) }
    }

    private mutating func append(_ write: (inout GrowingBytes) -> Void) -> Range<Int> {
        let start = bytes.count
        write(&bytes)
        return start..<max(start, bytes.count)
    }

    private func lend(_ range: Range<Int>) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes.bytes)[range])
    }

    private func lend(_ range: Range<Int>?) -> UnsafeRawBufferPointer? {
        guard let range else { return nil }
        return lend(range)
    }
}

extension ProducedRecord {
    /// Makes a permanent copy.
    public init(_ draft: borrowing RecordDraft) {
        var headers: [RecordHeader] = []
        draft.forEachHeader { name, value in
            headers.append(RecordHeader(name: String(decoding: name, as: UTF8.self), value: value.map(Array.init)))
        }
        self.init(
            topic: draft.topic, partition: draft.partition, key: draft.key.map(Array.init),
            value: draft.value.map(Array.init), headers: headers)
    }
}
