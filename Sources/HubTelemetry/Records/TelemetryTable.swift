/// The latest record of each send. At the limit, the sends that were added first are dropped.
public struct TelemetryTable: Sendable {
    private let countMax: Int
    private var records: [TelemetryRecord.Send: TelemetryRecord] = [:]
    /// The sends in the order of their first records. Entries before `head` are dropped.
    private var order: [TelemetryRecord.Send] = []
    private var head = 0
    public private(set) var dropped = 0

    /// - Parameter countMax: the most sends kept, at least 1. Each takes about a kilobyte.
    public init(countMax: Int) { self.countMax = max(countMax, 1) }

    public var count: Int { records.count }

    public subscript(send: TelemetryRecord.Send) -> TelemetryRecord? { records[send] }

    public mutating func add(_ record: TelemetryRecord) {
        if let known = records[record.send] {
            if record.supersedes(known) { records[record.send] = record }
            return
        }
        records[record.send] = record
        order.append(record.send)
        guard records.count > countMax else { return }
        records[order[head]] = nil
        head += 1
        dropped += 1
        if head > countMax {
            order.removeFirst(head)
            head = 0
        }
    }
}
