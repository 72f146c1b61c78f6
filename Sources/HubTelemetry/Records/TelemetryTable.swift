/// The last word on each of many sends; of those that were told of first, the oldest are dropped.
public struct TelemetryTable: Sendable {
    private let countMax: Int
    private var records: [TelemetryRecord.Send: TelemetryRecord] = [:]
    /// In the order in which sends were first told of; those before `head` are dropped.
    private var order: [TelemetryRecord.Send] = []
    private var head = 0
    public private(set) var dropped = 0

    /// - Parameter countMax: sends that are kept, 1 or more; each takes about a kilobyte.
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
