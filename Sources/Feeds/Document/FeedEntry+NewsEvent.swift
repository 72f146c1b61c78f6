import ByteText
public import NewsModel

extension FeedEntry {
    /// The entry as an event, cut to `EventLimits`. `NewsEvent.encode(into:)` writes it as a `news-event` document.
    ///
    /// An embargo without a known end makes the event `withheld`, so that no clock can release it.
    ///
    /// - Parameters:
    ///   - id: the event's own id; the entry's id is not used.
    ///   - story: `nil` if the id also identifies the story.
    ///   - categories: our categories, not the publisher's.
    /// - Throws: the reason why this entry cannot be an event. No input makes it trap.
    public func newsEvent(
        id: String, story: String? = nil, version: NewsEvent.Version? = nil, categories: [String] = []
    ) throws(NotAnEvent) -> NewsEvent {
        guard Self.isName(id, limit: EventLimits.id) else {
            throw NotAnEvent("its id is empty, contains a control character or has more than \(EventLimits.id) bytes")
        }
        if let story, !Self.isName(story, limit: EventLimits.story) {
            throw NotAnEvent(
                "its story is empty, contains a control character or has more than \(EventLimits.story) bytes")
        }
        if status == .usable, let fault { throw NotAnEvent(fault) }
        // A recall or a withheld event is not shown to anybody, so it needs no headline of its own.
        let hidden: String? =
            switch status {
            case .usable: nil
            case .withheld: "Withheld"
            case .canceled: "Withdrawn"
            }
        guard let headline = headline ?? hidden else {
            throw NotAnEvent("it has no headline; a notification has nothing to say without it")
        }
        var event = NewsEvent(id: id, headline: headline.cut(toBytes: EventLimits.headline))
        event.story = story == id ? nil : story
        event.version = version.flatMap { Self.isName($0.text, limit: EventLimits.version) ? $0 : nil }
        event.categories = categories.filter { Self.isName($0, limit: EventLimits.category) }
            .prefix(EventLimits.categories).map(\.self)
        event.subjects = subjects.filter { Self.isName($0, limit: EventLimits.category) }
            .prefix(EventLimits.categories).map(\.self)
        event.summary = summary?.cut(toBytes: EventLimits.summary)
        event.language = language.flatMap { Self.isName($0, limit: EventLimits.language) ? $0 : nil }
        event.urgency = urgency.flatMap { (1...9).contains($0) ? $0 : nil }
        event.status = status
        event.publishedAt = publishedAt ?? updatedAt
        event.expiresAt = expiresAt
        switch embargo {
        case .none: break
        case .until(let end): event.embargoUntil = end
        case .untilFurtherNotice: if status == .usable { event.status = .withheld }
        }
        event.link = link.flatMap { Self.isName($0, limit: EventLimits.address) ? $0 : nil }
        event.image = image.flatMap { Self.isName($0, limit: EventLimits.address) ? $0 : nil }
        return event
    }

    /// Returns true if a decoder of events accepts the text as an identifier.
    private static func isName(_ text: String, limit: Int) -> Bool {
        text.utf8.count <= limit && !text.trimmed.isEmpty && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
    }
}

/// The reason why an entry cannot be an event.
public struct NotAnEvent: Error, Sendable, Hashable, CustomStringConvertible {
    /// Half a sentence about the entry, such as `it has no headline`. It never contains the entry's text.
    public var description: String

    public init(_ description: String) {
        self.description = description
    }
}
