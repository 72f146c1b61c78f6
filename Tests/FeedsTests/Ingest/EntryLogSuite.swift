@testable import Feeds

/// A suite that folds records of entries into an `EntryLog`.
protocol EntryLogSuite {}

extension EntryLogSuite {
    static var hash: EntryHash { EntryHash("a") }

    /// Makes a record from a text of the form `version state`. The state is `done`, `known`, or the text of an intended
    /// event.
    ///
    /// - Returns: `nil` for `gone`.
    static func record(_ text: String) -> EntryRecord? {
        if text == "gone" { return nil }
        let parts = text.split(separator: " ").map(String.init)
        var state = EntryState()
        state.version = parts[0]
        state.standing = parts[1] == "known" ? .known : .sent
        let intent = parts[1] == "known" || parts[1] == "done" ? nil : parts[1]
        return EntryRecord(
            state: state, intent: intent.map { Intent(lane: "live", key: "k", event: Array($0.utf8), order: 1) },
            writer: "w")
    }
}

extension EntryLog {
    /// Folds a record whose offset plays no part.
    @discardableResult
    mutating func fold(_ hash: EntryHash, _ record: EntryRecord?) -> Bool { fold(hash, record, at: 0) }

    /// The record that overwrites one that does not count. Its writer may have read any record.
    func record(of hash: EntryHash, writer: String) -> EntryRecord? { record(of: hash, writer: writer, after: nil) }
}
