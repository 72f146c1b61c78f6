import Foundation
import NewsModel
import Testing

/// The folder `schemas` at the top of the repository.
let schemas = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../schemas").standardizedFileURL

/// Names of the example files that begin with `prefix`, sorted.
func examples(_ prefix: String = "") throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: schemas.appending(path: "examples").path)
        .filter { $0.hasPrefix(prefix) && $0.hasSuffix(".json") }.sorted()
}

func example(_ name: String) throws -> [UInt8] {
    try Array(Data(contentsOf: schemas.appending(path: "examples/\(name)")))
}

/// Real news that is not part of the repository.
let testData = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"].map { URL(filePath: $0) }

func record(_ text: String, headers: [RecordHeader] = []) -> SourceRecord {
    SourceRecord(offset: 0, value: Array(text.utf8), headers: headers)
}

func decode(_ text: String, headers: [RecordHeader] = []) throws -> NewsEvent {
    try NewsDecoder().decode(record(text, headers: headers))
}

func decode(_ bytes: [UInt8]) throws -> NewsEvent {
    try NewsDecoder().decode(SourceRecord(offset: 0, value: bytes))
}

/// The reason why the decoder refuses the value; fails the test when it does not.
func refusal(_ value: [UInt8]?, headers: [RecordHeader] = []) throws -> Undecodable {
    switch NewsDecoder().attempt(SourceRecord(offset: 0, value: value, headers: headers)) {
    case .success(let event): throw Accepted(event: event)
    case .failure(let undecodable): return undecodable
    }
}

extension NewsDecoder {
    /// Both endings as one value.
    func attempt(_ record: SourceRecord) -> Result<NewsEvent, Undecodable> {
        Result { () throws(Undecodable) in try decode(record) }
    }
}

struct Accepted: Error {
    var event: NewsEvent
}
