import ByteText
import Feeds
import Foundation
import Testing

struct GofeedTests {
    @Test(.enabled(if: Corpus.gofeed.isThere, Corpus.isMissing))
    func `our entries equal gofeed's expectations, except for differences with a known reason`() throws {
        var compared = 0
        var reasons: [GofeedReason: Int] = [:]
        for path in try Corpus.gofeed.documents() {
            guard let theirs = try TheirFeed(expectedBeside: path) else { continue }
            compared += 1
            let source = String(decoding: try Corpus.bytes(of: path), as: UTF8.self)
            for difference in Difference.between(try Corpus.read(path), theirs) {
                // gofeed splits values that we join, so only values that gofeed has are compared.
                guard difference.theirs != nil else { continue }
                let reason = GofeedReason.allCases.first { $0.explains(difference, in: source) }
                #expect(reason != nil, "\(difference)")
                if let reason { reasons[reason, default: 0] += 1 }
            }
        }
        #expect(compared > 200)
        #expect(GofeedReason.allCases.filter { reasons[$0] == nil } == [])
    }
}

/// The reasons for reading a value differently from gofeed.
private enum GofeedReason: CaseIterable {
    /// The first of several elements counts; gofeed takes the last.
    case firstOfSeveral
    /// An id has no markup and is not resolved.
    case idsArePlain
    /// An update is not a publication, except in Atom.
    case updatesAreNotPublications

    func explains(_ difference: Difference, in source: String) -> Bool {
        let theirs = difference.theirs ?? ""
        switch (self, difference.field) {
        case (.firstOfSeveral, .link): return difference.path.contains("item_links") && source.contains(theirs)
        case (.idsArePlain, .id): return theirs.contains("<") || theirs.hasSuffix(difference.ours ?? "none")
        case (.updatesAreNotPublications, .publishedAt):
            return difference.ours == nil && source.contains("atom:updated>")
        default: return false
        }
    }
}

extension TheirFeed {
    /// The expectation of gofeed's tests for a document; `nil` without one.
    fileprivate init?(expectedBeside path: String) throws {
        let base = path.split(separator: ".").dropLast().joined(separator: ".")
        let candidates = ["/\(base).json", "/\(base)_expected.json"].filter { $0 != path }
        guard let file = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }),
            // Some of the files are empty.
            let feed = try? JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: Any]
        else { return nil }
        let items = (feed["items"] ?? feed["entries"]) as? [[String: Any]] ?? []
        self.init(path: path, title: Self.text(feed["title"]), entries: items.map { Entry(gofeed: $0) })
    }

    fileprivate static func text(_ value: Any?) -> String? {
        (value as? String).flatMap { PlainText.ofHTML(Array($0.utf8), limit: .max / 2) }
    }
}

extension TheirFeed.Entry {
    fileprivate init(gofeed item: [String: Any]) {
        let guid = item["guid"]
        id = (guid as? [String: Any])?["value"] as? String ?? guid as? String ?? item["id"] as? String
        title = TheirFeed.text(item["title"])
        summary = TheirFeed.text(item["description"] ?? item["summary"])
        link = item["link"] as? String ?? item["url"] as? String
        published = (item["publishedParsed"] ?? item["pubDateParsed"] ?? item["date_published"]).flatMap(Self.seconds)
        updated = (item["updatedParsed"] ?? item["date_modified"]).flatMap(Self.seconds)
    }

    private static func seconds(_ value: Any) -> Double? {
        guard let text = value as? String else { return nil }
        let whole = text.replacing(#/\.[0-9]+/#, with: "")
        return (try? Date(whole, strategy: .iso8601))?.timeIntervalSince1970
    }
}
