import ByteText
import NewsModel

/// Reads NewsML-G2: a `newsMessage` or a single item.
enum NewsMLG2 {
    /// Some senders omit the namespace.
    static let namespaces: MarkupNamespace = [.newsML, .none]

    static func read(_ root: MarkupElement, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        var document = FeedDocument(format: .newsMLG2)
        var items = [root]
        var message = Message()
        let inherited = InheritedAttributes()
        if root.isNamed("newsMessage", in: namespaces) {
            let header = root.first("header", in: namespaces)
            message.priority = header?.first("priority", in: namespaces).flatMap { urgency($0.text) }
            message.sent = header?.first("sent", in: namespaces)?.text
            items = root.all("itemSet", in: namespaces).flatMap { Array($0.children) }
        }
        document.language = root["lang", in: .xml].flatMap(\.nonBlank)
        for item in items {
            guard document.entries.count + document.skipped.count < FeedLimits.entriesRead else {
                document.entriesLeftOut += 1
                continue
            }
            // The missing part may have contained the item's status or embargo.
            if item.isCutOff {
                document.skipped.append(
                    SkippedItem(id: item["guid"].flatMap(\.nonBlank), "the document ends in the middle of the item"))
            } else if item.isNamed("newsItem", in: namespaces) || item.isNamed("packageItem", in: namespaces) {
                var reader = NewsMLG2Item(item, message, inherited, zoneMinutes: source.zoneMinutes)
                document.entries.append(reader.read())
                document.unreadableDates += reader.unreadableDates
            } else {
                document.skipped.append(SkippedItem(id: item["guid"].flatMap(\.nonBlank), reason(for: item)))
            }
        }
        if root.isCutOff, !items.contains(where: \.isCutOff) {
            document.skipped.append(SkippedItem("the document ends too early; items may be missing"))
        }
        return document
    }

    /// The values of the envelope, which apply to all its items.
    struct Message {
        var priority: Int?
        var sent: String?
    }

    /// Returns 1…9, or `nil` for any other text.
    static func urgency(_ text: String) -> Int? {
        Int(text.trimmed).flatMap { (1...9).contains($0) ? $0 : nil }
    }

    private static func reason(for item: MarkupElement) -> String {
        let kinds: [(name: StaticString, reason: String)] = [
            ("conceptItem", "a conceptItem describes a person, place, topic or event; it is not news"),
            ("knowledgeItem", "a knowledgeItem is a list of concepts; it is not news"),
            ("planningItem", "a planningItem announces coverage that does not exist yet; it is not news"),
            ("catalogItem", "a catalogItem lists vocabularies; it is not news"),
        ]
        return kinds.first { item.isNamed($0.name, in: namespaces) }?.reason
            ?? "the item is of a kind that NewsML-G2 does not have; newsItem and packageItem are read"
    }
}

extension StringProtocol {
    /// The trimmed text; `nil` if nothing is left.
    var nonBlank: String? {
        let text = trimmed
        return text.isEmpty ? nil : String(text)
    }
}
