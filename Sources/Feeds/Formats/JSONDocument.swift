import ByteText
import NewsModel

/// Reads feeds in JSON, whose members show their format.
enum JSONDocument {
    /// - Parameter bytes: UTF-8.
    static func read(_ bytes: [UInt8], from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        do throws(NotAFeed) {
            return try readStrictly(bytes, from: source)
        } catch {
            guard error.reason == .broken, let repaired = JSONRepair.repaired(bytes) else { throw error }
            return try readStrictly(repaired, from: source)
        }
    }

    private static func readStrictly(_ bytes: [UInt8], from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        // An array contains ninjs items, which the ninjs reader splits.
        if bytes.first(where: { !$0.isMarkupBlank }) == UInt8(ascii: "[") { return try Ninjs.read(bytes) }
        let parser = JSONParser(sizeMax: max(bytes.count, FeedLimits.document))
        defer { withExtendedLifetime(parser) {} }
        let object: JSONObject
        do {
            object = try bytes.withUnsafeBufferPointer { (buffer) throws(Undecodable) in try parser.object(in: buffer) }
        } catch {
            throw NotAFeed(.broken, "The document begins like JSON but is not: \(error.reason.rawValue)")
        }
        let version = object["version"]?.text ?? ""
        let isJSONFeed = ["https://jsonfeed.org/version/", "http://jsonfeed.org/version/"].contains {
            version.hasPrefix($0)
        }
        if isJSONFeed { return JSONFeed.read(object, isOld: version.hasSuffix("/1"), from: source) }
        if object["uri"] != nil || object["guid"] != nil { return try Ninjs.read(bytes) }
        if object["_items"]?.array != nil { return try Ninjs.read(bytes, list: "_items") }
        if let items = object["items"]?.array {
            if isNinjs(items) { return try Ninjs.read(bytes, list: "items") }
            let document = JSONFeed.read(object, isOld: false, from: source)
            let isFeed =
                document.entries.isEmpty || document.entries.contains { $0.id ?? $0.link ?? $0.headline != nil }
            guard isFeed else {
                throw NotAFeed(.unknown, "The document is JSON, but none of its items has an id, a url or a title")
            }
            return document
        }
        if let channel = (object["rss"]?.object ?? object)["channel"]?.object {
            return RSSInJSON.read(channel, from: source)
        }
        throw NotAFeed(.unknown, "The document is JSON but neither JSON Feed nor ninjs nor RSS in JSON")
    }

    /// Returns true if an item has a `uri` or `guid`, which JSON Feed does not have.
    private static func isNinjs(_ items: JSONArray) -> Bool {
        items.contains { item in
            guard case .object(let item) = item else { return false }
            return (item["uri"] ?? item["guid"]) != nil && item["id"] == nil
        }
    }
}

extension JSONObject {
    /// The first member with this name.
    subscript(name: StaticString) -> JSONValue? { first { $0.name == name }?.value }

    /// Returns the first visible text among these members, in the order of the names.
    func text(_ names: StaticString..., limit: Int) -> String? {
        for name in names {
            if let text = self[name]?.text, let visible = PlainText.ofText(text, limit: limit) { return visible }
        }
        return nil
    }

    func html(_ name: StaticString, limit: Int) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return PlainText.ofHTML(text, limit: limit)
    }
}

extension JSONValue {
    /// The text of a string or a number.
    var text: String? {
        switch self {
        case .string(let text): String(decoding: text, as: UTF8.self)
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .number(let number): Int64(exactly: number).map { String($0) } ?? String(number)
        case .null, .boolean, .array, .object: nil
        }
    }

    var array: JSONArray? {
        if case .array(let array) = self { return array }
        return nil
    }

    var object: JSONObject? {
        if case .object(let object) = self { return object }
        return nil
    }

    /// The elements of an array, or a list of this value alone.
    var list: [JSONValue] { array.map { Array($0) } ?? [self] }
}
