import HubTelemetry
import NewsModel
import NotificationHub
import Testing

struct TelemetryTableTests {
    private func record(_ number: Int, attempt: Int = 1, _ state: TelemetryRecord.State = .processing) throws
        -> TelemetryRecord
    {
        var record = try TelemetryRecordTests.record()
        (record.eventID, record.attempt, record.state) = ("event-\(number)", attempt, state)
        record.isFinal = state.isFinal
        return record
    }

    @Test func `the last record of a send is kept, in any order of records`() throws {
        var table = TelemetryTable(countMax: 10)
        table.add(try record(1, attempt: 2, .completed))
        table.add(try record(1, attempt: 1))
        #expect(try table[record(1).send]?.state == .completed)
        #expect(table.count == 1 && table.dropped == 0)
    }

    @Test func `the table keeps the latest sends up to its limit`() throws {
        var table = TelemetryTable(countMax: 100)
        for number in 0..<1_000 { table.add(try record(number)) }
        #expect(table.count == 100 && table.dropped == 900)
        #expect(try table[record(899).send] == nil)
        for number in 900..<1_000 { #expect(try table[record(number).send] != nil) }
    }
}
