import ByteText
import NewsModel

/// The limits of a document, which bound memory and time whatever a publisher sends.
public enum FeedLimits {
    /// Maximum bytes of a document after decompression.
    public static let document = 15 << 20
    /// Maximum number of entries read from one document.
    public static let entriesRead = 2_000
    /// Number of entries that may lead to events: those from the top of the document, and those with the latest dates.
    public static let entriesUsed = 100
    /// Maximum depth of nested elements.
    public static let depth = 256
    /// Maximum number of attributes of one element.
    public static let attributes = 256
    /// Maximum bytes of an event id. A hash replaces a longer id.
    public static let eventID = 512
}

extension FeedDocument {
    /// Adds an entry. Beyond `FeedLimits.entriesRead`, entries are counted and not created.
    mutating func add(_ entry: @autoclosure () -> FeedEntry) {
        if entries.count < FeedLimits.entriesRead { entries.append(entry()) } else { entriesLeftOut += 1 }
    }

    /// Cuts texts that are longer than an event allows. Texts that mean something only as a whole are dropped instead.
    mutating func keepWithinLimits() {
        if entries.count > FeedLimits.entriesRead {
            entriesLeftOut += entries.count - FeedLimits.entriesRead
            entries.removeLast(entries.count - FeedLimits.entriesRead)
        }
        title = title?.cut(toBytes: EventLimits.headline)
        language = language?.within(EventLimits.language)
        for index in entries.indices {
            entries[index].language = entries[index].language ?? language
            entries[index].keepWithinLimits()
        }
        for index in skipped.indices { skipped[index].id = skipped[index].id?.cut(toBytes: EventLimits.id) }
        hubs = Array(hubs.filter { $0.utf8.count <= EventLimits.address }.prefix(Self.hubsMax))
        selfLink = selfLink?.within(EventLimits.address)
    }

    /// Maximum number of hubs read from a document.
    static var hubsMax: Int { 8 }
}

extension FeedEntry {
    fileprivate mutating func keepWithinLimits() {
        // A hash later replaces an id that is too long for an event, so that two ids do not become one.
        id = id?.cut(toBytes: EventLimits.address)
        headline = headline?.cut(toBytes: EventLimits.headline)
        summary = summary?.cut(toBytes: EventLimits.summary)
        link = link?.within(EventLimits.address)
        language = language?.within(EventLimits.language)
        categories = categories.prefix(EventLimits.categories).map {
            Term(
                $0.name.cut(toBytes: EventLimits.category), label: $0.label?.cut(toBytes: EventLimits.category),
                scheme: $0.scheme?.within(EventLimits.address))
        }
        subjects = Array(subjects.filter { $0.utf8.count <= EventLimits.category }.prefix(EventLimits.categories))
        image = image?.within(EventLimits.address)
        author = author?.cut(toBytes: EventLimits.dataValue)
        story = story?.cut(toBytes: EventLimits.address)
        signals = Array(signals.prefix(EventLimits.categories)).map { $0.cut(toBytes: EventLimits.category) }
        editorialNote = editorialNote?.cut(toBytes: EventLimits.dataValue)
    }
}

extension String {
    fileprivate func within(_ limit: Int) -> String? { utf8.count <= limit ? self : nil }
}
