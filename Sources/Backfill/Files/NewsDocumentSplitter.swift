import Feeds
import NewsModel

/// Makes events of the items of a NewsML-G2 or NITF document. Reads the document once it is complete, because the meaning of
/// its items depends on the whole.
struct NewsDocumentSplitter: ItemSplitter {
    private var document: [UInt8] = []
    private var isTooLong = false

    mutating func feed(_ bytes: ArraySlice<UInt8>, into items: inout [EventFileItem]) {
        guard !isTooLong else { return }
        document.append(contentsOf: bytes)
        guard document.count > FeedLimits.document else { return }
        isTooLong = true
        document = []
    }

    func finish(into items: inout [EventFileItem]) {
        // All items are on line 1, the line of the document, because they are named by their ids.
        items += contents.map { EventFileItem(line: 1, content: $0, isConverted: true) }
    }

    private var contents: [EventFileItem.Content] {
        guard !isTooLong else {
            return [.broken("the document is longer than \(FeedLimits.document >> 20) MiB; split it into several")]
        }
        do throws(NotAFeed) {
            let read = try FeedReader.read(document, from: DocumentSource(address: ""))
            guard read.format == .newsMLG2 || read.format == .nitf else {
                return [.broken("the document is \(read.format.rawValue), a feed; `newswire ingest` follows feeds")]
            }
            var contents = read.entries.enumerated().map { Self.content(of: $1, place: $0 + 1) }
            contents += read.skipped.map { .bad(($0.id.map { "\($0): " } ?? "") + $0.reason) }
            if read.entriesLeftOut > 0 {
                contents.append(
                    .broken("the document has more than \(FeedLimits.entriesRead) items; split it into several"))
            }
            return contents
        } catch {
            return [.broken(error.detail)]
        }
    }

    private static func content(of entry: FeedEntry, place: Int) -> EventFileItem.Content {
        guard let id = entry.id else {
            return .bad("item \(place) has no id; without it an update could not replace the event")
        }
        guard entry.isStory else {
            return .bad("\(id): it is a \(entry.itemClass ?? "part") of some story, not a story")
        }
        do throws(NotAnEvent) {
            let categories = entry.categories.map { $0.label ?? $0.name }
            let event = try entry.newsEvent(id: id, story: entry.story, version: entry.version, categories: categories)
            var bytes: [UInt8] = []
            event.encode(into: &bytes)
            return .event(bytes)
        } catch {
            return .bad("\(id): \(error)")
        }
    }
}
