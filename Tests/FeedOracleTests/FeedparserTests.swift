import Feeds
import Foundation
import NewsModel
import TestSupport
import Testing

struct FeedparserTests {
    private static let python = Python(with: "feedparser")

    @Test(
        .enabled(if: Corpus.feedparser.isThere, Corpus.isMissing),
        .enabled(if: python != nil, "set NEWSWIRE_TEST_PYTHON to a Python with feedparser to run this"))
    func `we read what feedparser reads`() async throws {
        let paths = try Corpus.allCases.flatMap { try $0.documents() }.filter { $0.hasSuffix(".xml") }
        let output = try await #require(Self.python).run(
            script: "feedparser_oracle.py", arguments: Corpus.allCases.compactMap { $0.folder?.path })
        #expect(output.status == 0)
        var compared = 0
        var unexplained: [String: Int] = [:]
        for line in output.output.split(separator: "\n") {
            let theirs = try JSONDecoder().decode(TheirFeed.self, from: Data(line.utf8))
            let ours = try Corpus.read(theirs.path)
            for difference in Difference.between(ours, theirs) {
                let short = theirs.path.split(separator: "/feeds/").last ?? ""
                print("DIFF", short, difference)
                unexplained[difference.field, default: 0] += 1
            }
            compared += 1
        }
        #expect(compared == paths.count)
        #expect(unexplained == [:])
    }
}

struct TheirFeed: Decodable {
    var path: String
    var problem: String?
    var version: String
    var title: String?
    var entries: [Entry]

    struct Entry: Decodable {
        var id: String?
        var title: String?
        var link: String?
        var published: Double?
        var updated: Double?
        var created: Double?
    }
}

struct Difference: CustomStringConvertible {
    var field: String
    var ours: String
    var theirs: String
    var description: String { "\(field): ours \(ours) | theirs \(theirs)" }

    static func between(_ ours: Result<FeedDocument, NotAFeed>, _ theirs: TheirFeed) -> [Difference] {
        guard case .success(let document) = ours else {
            return theirs.entries.isEmpty
                ? [] : [Difference(field: "refused", ours: "\(ours)", theirs: "\(theirs.entries.count) entries")]
        }
        let entries = document.entries.filter { $0.status == .usable }
        guard entries.count == theirs.entries.count else {
            return [Difference(field: "count", ours: "\(entries.count)", theirs: "\(theirs.entries.count)")]
        }
        var differences: [Difference] = []
        func compare(_ field: String, _ ours: String?, _ theirs: String?) {
            if ours != theirs {
                differences.append(Difference(field: field, ours: ours ?? "none", theirs: theirs ?? "none"))
            }
        }
        compare("feed title", document.title, theirs.title)
        for (our, their) in zip(entries, theirs.entries) {
            compare("id", our.id, their.id)
            compare("title", our.headline, their.title)
            compare("link", our.link, their.link)
            let published = our.publishedAt.map { Double($0.milliseconds / 1000) }
            let updated = our.updatedAt.map { Double($0.milliseconds / 1000) }
            compare("published", published.map { "\($0)" }, (their.published ?? their.created ?? their.updated).map { "\($0)" })
            if updated != their.updated, their.updated != published {
                compare("updated", updated.map { "\($0)" }, their.updated.map { "\($0)" })
            }
        }
        return differences
    }
}
