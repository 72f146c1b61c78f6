import Foundation
import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

/// Four thousand real headlines: quotes, backslashes, entities, broken escapes.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"] != nil,
        "set NEWSWIRE_TEST_DATA to a folder with ag_news.csv"))
struct PayloadDataTests {
    static let categories = ["1": "World", "2": "Sports", "3": "Business", "4": "Technology"]

    /// The rows of a CSV file whose fields all stand in quotes; a quote within one is doubled.
    private func rows() throws -> [[String]] {
        let folder = try #require(ProcessInfo.processInfo.environment["NEWSWIRE_TEST_DATA"])
        let bytes = try Data(contentsOf: URL(filePath: folder).appending(path: "ag_news.csv"))
        return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).map { line in
            line.dropFirst().dropLast().components(separatedBy: "\",\"").map {
                $0.replacingOccurrences(of: "\"\"", with: "\"")
            }
        }
    }

    @Test(arguments: Platform.allCases)
    func `every headline reaches the phone unchanged, or cut as reported`(platform: Platform) throws {
        let builder = try PayloadBuilder()
        let router = try Router()
        var wrong: [Int] = []
        var count = 0
        for (number, row) in try rows().enumerated() {
            var event = NewsEvent(id: "ag-\(number)", headline: row[1])
            event.categories = [try #require(Self.categories[row[0]])]
            event.summary = row[2]
            guard case .tagged(let routing) = router.route(event) else {
                wrong.append(number)
                continue
            }
            let payload = builder.payload(
                event, routing: routing, platform: platform, lane: LaneID(0), since: PayloadSamples.since)
            let body = payload.request.body
            let isWhole =
                PayloadSamples.message(in: body, of: platform) == "Breaking \(routing.label) News : \(row[1])"
                && PayloadSamples.fields(in: body, of: platform)?["title"] as? String
                    == (platform == .windowsphone ? nil : row[1])
                && payload.cuts.isSubset(of: .summary)
            if !isWhole { wrong.append(number) }
            count += 1
        }
        #expect(wrong.isEmpty)
        #expect(count == 4_000)
    }
}
