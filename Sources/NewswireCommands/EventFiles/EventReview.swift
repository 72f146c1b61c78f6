package import KafkaModel
import NewsModel

/// Decodes each event before it is published: a mistake is reported now, with its line, instead of later as a result.
package struct EventReview {
    private let decoder = NewsDecoder()
    private let headers: [RecordHeader]

    /// - Parameters:
    ///   - environment: the one that the events are published for; `nil` if it has no name.
    ///   - run: the run that they belong to.
    package init(environment: String? = nil, run: String? = nil) {
        headers = [(HeaderName.environment, environment), (HeaderName.run, run)].compactMap { name, text in
            text.map { RecordHeader(name, $0) }
        }
    }

    /// The record to publish. Its key is the story, or the id without one, so that updates of a story stay in order.
    package func record(_ item: EventFileItem, topic: String) -> Result<ProducedRecord, Complaint> {
        switch item.content {
        case .bad(let reason), .broken(let reason): return .failure(Complaint(line: item.line, reason: reason))
        case .event(let bytes):
            do throws(Undecodable) {
                let event = try decoder.decode(SourceRecord(offset: 0, value: bytes))
                return .success(
                    ProducedRecord(topic: topic, key: Array(event.orderKey.utf8), value: bytes, headers: headers))
            } catch {
                return .failure(Complaint(line: item.line, reason: error.detail))
            }
        }
    }

    package struct Complaint: Error, Hashable {
        var line: Int
        var reason: String
    }
}
