package import KafkaModel
package import NewsModel

/// Decodes each event before it is published, so that a mistake is reported with its line instead of later as a result.
package struct EventReview {
    private let decoder = NewsDecoder()
    /// The headers of every record.
    package let headers: [RecordHeader]

    /// - Parameters:
    ///   - environment: the environment that the events are published for; `nil` if it has no name.
    ///   - run: the run that the events belong to.
    ///   - isSilent: true if the events must disturb nobody.
    package init(environment: String? = nil, run: RunID? = nil, isSilent: Bool = false) {
        var headers: [RecordHeader] = []
        if let environment { headers.append(RecordHeader(HeaderName.environment, environment)) }
        if let run { headers.append(RecordHeader(HeaderName.run, run.text)) }
        if isSilent { headers.append(RecordHeader(HeaderName.quiet, "true")) }
        self.headers = headers
    }

    package func event(_ item: EventFileItem) -> Result<(NewsEvent, [UInt8]), Complaint> {
        switch item.content {
        case .bad(let reason), .broken(let reason): return .failure(Complaint(line: item.line, reason: reason))
        case .event(let bytes):
            do throws(Undecodable) {
                return .success((try decoder.decode(SourceRecord(offset: 0, value: bytes)), bytes))
            } catch {
                return .failure(Complaint(line: item.line, reason: error.detail))
            }
        }
    }

    /// The record to publish. Its key is the story, or the id without one, so that updates of a story stay in order.
    package func record(_ event: NewsEvent, _ bytes: [UInt8], topic: String) -> ProducedRecord {
        ProducedRecord(topic: topic, key: Array(event.orderKey.utf8), value: bytes, headers: headers)
    }

    package struct Complaint: Error, Hashable {
        package var line: Int
        package var reason: String
    }
}
