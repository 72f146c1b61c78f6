import ByteText
import NewsModel

/// Reads JSON Feed 1.0 and 1.1. Its `title`, `summary` and `content_text` are plain text and are not read as HTML.
enum JSONFeed {
    static func read(_ feed: JSONObject, isOld: Bool, from source: DocumentSource) -> FeedDocument {
        var document = FeedDocument(format: isOld ? .jsonFeed10 : .jsonFeed11)
        var parts = EntryParts(source: source)
        document.title = feed.text("title", limit: EventLimits.headline)
        document.language = EntryParts.language(feed["language"]?.text)
        document.selfLink = feed["feed_url"]?.text.flatMap { WebAddress.resolve($0, base: source.address) }
        for case .object(let hub) in (feed["hubs"]?.list ?? []).prefix(FeedDocument.hubsMax) {
            guard let type = hub["type"]?.text, ["websub", "pubsubhubbub"].contains(type.asciiLowercased),
                let url = hub["url"]?.text, let address = WebAddress.resolve(url, base: source.address)
            else { continue }
            document.hubs.append(address)
        }
        for case .object(let item) in feed["items"]?.list ?? [] {
            document.add(entry(item, &parts))
        }
        document.unreadableDates = parts.unreadableDates
        return document
    }

    private static func entry(_ item: JSONObject, _ parts: inout EntryParts) -> FeedEntry {
        var entry = FeedEntry()
        entry.id = item.text("id", limit: EventLimits.address)
        entry.summary =
            item.text("summary", "content_text", limit: EventLimits.summary)
            ?? item.html("content_html", limit: EventLimits.summary)
        entry.headline =
            item.text("title", limit: EventLimits.headline) ?? EntryParts.headline(from: entry.summary)
        entry.link = parts.address(item["url"]) ?? parts.address(item["external_url"])
        let modified = item["date_modified"]?.text.flatMap { parts.date($0) }
        entry.publishedAt = item["date_published"]?.text.flatMap { parts.date($0) } ?? modified
        entry.isDatedMidnight = parts.isMidnight(entry.publishedAt)
        entry.updatedAt = modified
        entry.language = EntryParts.language(item["language"]?.text)
        for tag in item["tags"]?.list ?? [] {
            if let name = tag.text { entry.add(category: name) }
        }
        entry.image = parts.address(item["image"]) ?? parts.address(item["banner_image"])
        let authors = (item["authors"]?.list ?? []) + (item["author"]?.list ?? [])
        entry.author = authors.lazy.compactMap { $0.object?.text("name", limit: EventLimits.dataValue) }.first
        return entry
    }
}

/// Reads RSS 2.0 written as JSON, with the names and texts of RSS: HTML, escaped or not.
enum RSSInJSON {
    static func read(_ channel: JSONObject, from source: DocumentSource) -> FeedDocument {
        var document = FeedDocument(format: .rssJSON)
        var parts = EntryParts(source: source)
        document.title = channel.html("title", limit: EventLimits.headline)
        document.language = EntryParts.language(channel["language"]?.text)
        for case .object(let item) in channel["item"]?.list ?? [] {
            document.add(entry(item, &parts))
        }
        document.unreadableDates = parts.unreadableDates
        return document
    }

    private static func entry(_ item: JSONObject, _ parts: inout EntryParts) -> FeedEntry {
        var entry = FeedEntry()
        // Elements with attributes become objects that have their text under this name.
        let guid = item["guid"]?.object
        let id = guid?["#value"]?.text ?? item["guid"]?.text
        entry.id = id.flatMap { PlainText.ofText($0, limit: EventLimits.address) }
        entry.summary = item.html("description", limit: EventLimits.summary)
        entry.headline = item.html("title", limit: EventLimits.headline) ?? EntryParts.headline(from: entry.summary)
        let isPermanent = guid?["isPermaLink"]?.text.map { !$0.equalsIgnoringASCIICase("false") } ?? true
        entry.link = parts.address(item["link"]) ?? (isPermanent ? id.flatMap { parts.absolute($0) } : nil)
        entry.publishedAt = item["pubDate"]?.text.flatMap { parts.date($0) }
        entry.isDatedMidnight = parts.isMidnight(entry.publishedAt)
        for category in item["category"]?.list ?? [] {
            if let name = category.text ?? category.object?["#value"]?.text {
                entry.add(category: name, scheme: category.object?["domain"]?.text)
            }
        }
        entry.author = item.html("author", limit: EventLimits.dataValue)
        return entry
    }
}

extension EntryParts {
    fileprivate func address(_ value: JSONValue?) -> String? {
        value?.text.flatMap { $0.trimmed.isEmpty ? nil : WebAddress.resolve($0, base: source.address) }
    }
}
