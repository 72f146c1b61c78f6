import Backfill
import Foundation
import KafkaModel
import NewsModel
import NewswireCommands
import Testing

@Test func `the samples are events, each with a category of its own`() throws {
    let review = EventReview()
    var splitter = EventFileSplitter(.ndjson)
    var samples: [EventFileItem] = []
    splitter.feed(Array(SampleEvents.ndjson.utf8)[...], into: &samples)
    splitter.finish(into: &samples)
    #expect(samples.count == 18)
    var keys: Set<[UInt8]> = []
    for sample in samples {
        let (event, bytes) = try review.event(sample).get()
        keys.insert(try #require(review.record(event, bytes, topic: "t").key))
    }
    #expect(keys.count == 18)
}

private let data = ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"]

@Test(.enabled(if: data != nil, "set NEWSWIRE_TEST_DATA to the folder with ninjs documents"))
func `ninjs documents are read as they are`() throws {
    let folder = URL(fileURLWithPath: try #require(data)).appending(path: "ninjs")
    let paths = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(!paths.isEmpty)
    for path in paths {
        let file = try EventFile(path: folder.appending(path: path).path)
        var items: [EventFileItem] = []
        while let more = try file.next() { items += more }
        let stored = try Data(contentsOf: folder.appending(path: path))
        #expect(items.count == 1, "\(path) \(String(describing: file.format))")
        if case .event(let bytes)? = items.first?.content {
            #expect(
                String(decoding: bytes, as: UTF8.self)
                    == String(decoding: stored, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }
}

@Test(.enabled(if: ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"] != nil, "set NEWSWIRE_TEST_DATA"))
func `IPTC's examples are events`() throws {
    let data = try #require(ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"])
    let path = URL(filePath: data).appending(path: "feeds/newsml-g2/examples/LISTING_1_A_NewsML-G2_News_Item.xml")
        .path
    let file = try EventFile(path: path)
    var items: [EventFileItem] = []
    while let more = try file.next() { items += more }
    guard case .event(let bytes)? = items.first?.content else {
        Issue.record("\(items)")
        return
    }
    let event = try NewsDecoder().decode(SourceRecord(offset: 0, value: bytes))
    #expect(file.format == .newsML)
    #expect(event.id == "urn:newsml:acmenews.com:20161018:US-FINANCE-FED")
    #expect(event.version?.text == "11")
    #expect(event.headline == #"Fed to halt QE to avert "bubble""#)
    #expect(event.embargoUntil?.description == "2018-10-23T12:00:00.000Z")
}
