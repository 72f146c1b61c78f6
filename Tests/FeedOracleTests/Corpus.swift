import Feeds
import Foundation
import TestSupport
import Testing

/// Test feeds of other projects, in `feeds` of the folder that `NEWSWIRE_TEST_DATA` names.
enum Corpus: String, CaseIterable {
    case feedparser, gofeed, w3c

    static let isMissing = Comment("set NEWSWIRE_TEST_DATA to a folder with feeds/ to run this")

    var folder: URL? { RealNews.folder?.appending(path: "feeds/\(rawValue)") }
    var isThere: Bool { folder.map { FileManager.default.fileExists(atPath: $0.path) } ?? false }

    /// The paths of all documents, in order.
    func documents() throws -> [String] {
        guard let folder else { return [] }
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        let all = Set(names)
        return names.filter { name in
            // gofeed stores the expected result next to the document.
            name.hasSuffix(".xml")
                || name.hasSuffix(".json") && !name.hasSuffix("_expected.json")
                    && !all.contains(name.dropLast(4) + "xml")
        }.sorted().map { folder.appending(path: $0).path }
    }

    static func bytes(of path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    static func read(_ path: String) throws -> Result<FeedDocument, NotAFeed> {
        let bytes = try bytes(of: path)
        do {
            return .success(
                try FeedReader.read(bytes, from: DocumentSource(address: "http://corpus.example/feeds/feed.xml")))
        } catch {
            return .failure(error)
        }
    }
}
