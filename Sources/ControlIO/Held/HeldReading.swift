public import EditorialControl
public import KafkaIO
public import KafkaModel
import NewsModel

/// Reads the held topic to its present end. Its call blocks.
public enum HeldReading {
    /// - Returns: the events on the topic; if stopped early, those read by then.
    /// - Throws: an error if the topic is missing or cannot be read.
    public static func all(
        _ settings: KafkaSettings, topic: String, isStopped: () -> Bool = { false }
    ) throws(KafkaFailure) -> HeldTable {
        let reader: TableReader
        do throws(KafkaFailure) {
            reader = try TableReader(settings: settings, topic: topic, admin: KafkaAdmin(settings: settings))
        } catch {
            throw error.code == "UNKNOWN_TOPIC_OR_PART" ? KafkaFailure.missing(topic: topic) : error
        }
        var table = HeldTable()
        var ended: Set<Int32> = []
        while ended.count < reader.partitionCount, !isStopped() {
            for event in try reader.next(timeout: .milliseconds(500)) {
                switch event {
                case .rows(let partition, let rows):
                    for row in rows {
                        table.apply(
                            HeldRecord.read(key: row.key, hasValue: row.hasValue, headers: row.headers),
                            at: HeldPlace(partition, row.offset))
                    }
                case .endReached(let partition, _): ended.insert(partition)
                case .failed(let failure): throw failure
                }
            }
        }
        return table
    }
}
