import Feeds
import Foundation
import Synchronization

@testable import FeedIO

/// A replacement for Kafka without failures: records come back at once and are kept.
final class MemoryFeedStore: FeedStore {
    private struct Contents {
        var records: [StateRecord] = []
        var headlines: [String] = []
        var hand: @Sendable (IngestInput) -> Void = { _ in }
    }

    private let contents = Mutex(Contents())

    /// The headlines of published events, oldest first.
    var headlines: [String] { contents.withLock(\.headlines) }

    /// Passes the state to an ingester, and from then on the answers too.
    func serve(_ hand: @escaping @Sendable (IngestInput) -> Void, isRestored: Bool = true) {
        let records = contents.withLock { contents in
            contents.hand = hand
            return contents.records
        }
        hand(.assigned([0]))
        for (offset, record) in records.enumerated() {
            hand(.record(partition: 0, offset: Int64(offset), key: record.key, value: record.value))
        }
        if isRestored { hand(.restored(partition: 0)) }
    }

    /// Changes all stored values.
    func edit(_ change: (String) -> String) {
        contents.withLock { contents in
            for index in contents.records.indices {
                guard let value = contents.records[index].value else { continue }
                contents.records[index].value = Array(change(String(decoding: value, as: UTF8.self)).utf8)
            }
        }
    }

    func store(_ write: WriteID, partition: Int32, _ records: [StateRecord]) {
        let (hand, end) = contents.withLock { contents in
            defer { contents.records += records }
            return (contents.hand, contents.records.count)
        }
        for (place, record) in records.enumerated() {
            hand(.record(partition: partition, offset: Int64(end + place), key: record.key, value: record.value))
        }
    }

    func publish(_ write: WriteID, lane: String, _ events: [FeedEvent]) {
        let hand = contents.withLock { contents in
            for event in events {
                let json = try? JSONSerialization.jsonObject(with: Data(event.value)) as? [String: Any]
                contents.headlines.append(json?["headline"] as? String ?? "unreadable")
            }
            return contents.hand
        }
        hand(.published(write))
    }

    func release() {}
}
