import Feeds
import Foundation
import TestSupport
import Testing

struct FeedparserTests {
    private static let python = Python(with: "feedparser")

    @Test(
        .enabled(if: Corpus.allCases.allSatisfy(\.isThere), Corpus.isMissing),
        .enabled(if: python != nil, "set NEWSWIRE_TEST_PYTHON to a Python with feedparser to run this"))
    func `our entries equal feedparser's, except for differences with a known reason`() async throws {
        let output = try await #require(Self.python).run(
            script: "feedparser_oracle.py", arguments: Corpus.allCases.compactMap { $0.folder?.path })
        #expect(output.status == 0)
        var compared = 0
        var reasons: [Reason: Int] = [:]
        for line in output.output.split(separator: "\n") {
            let theirs = try JSONDecoder().decode(TheirFeed.self, from: Data(line.utf8))
            for difference in Difference.between(try Corpus.read(theirs.path), theirs) {
                let source = String(decoding: try Corpus.bytes(of: theirs.path), as: UTF8.self)
                let reason = Reason.allCases.first { $0.explains(difference, in: source) }
                #expect(reason != nil, "\(difference)")
                if let reason { reasons[reason, default: 0] += 1 }
            }
            compared += 1
        }
        #expect(compared > 1_000)
        // A reason that explains no difference is obsolete.
        #expect(Reason.allCases.filter { reasons[$0] == nil } == [])
    }
}

/// feedparser's result for one document, as `feedparser_oracle.py` writes it.
struct TheirFeed: Decodable {
    var path: String
    var title: String?
    var entries: [Entry]

    struct Entry: Decodable {
        var id: String?
        var title: String?
        var summary: String?
        var link: String?
        /// The publication in seconds since 1970.
        var published: Double?
        var updated: Double?
        var created: Double?
    }
}
