import KafkaIO
import KafkaModel
import NewsModel

/// Looks at each event before it is published: what newswire could not read later is named now, with its line.
struct EventReview {
    private let decoder = NewsDecoder()

    /// The record to publish, its key the story, else the id, so that updates of a story stay in order; or what is
    /// wrong.
    func record(_ item: EventFileItem, topic: String) -> Result<ProducedRecord, Complaint> {
        switch item.content {
        case .bad(let reason): return .failure(Complaint(line: item.line, reason: reason))
        case .event(let bytes):
            switch decoder.decode(SourceRecord(offset: 0, value: bytes)) {
            case .success(let event):
                return .success(ProducedRecord(topic: topic, key: Array(event.orderKey.utf8), value: bytes))
            case .failure(let undecodable):
                return .failure(Complaint(line: item.line, reason: undecodable.detail))
            }
        }
    }

    struct Complaint: Error, Hashable {
        var line: Int
        var reason: String
    }
}
