import ByteText
import NewsModel

/// Reads ninjs: one item, or an array of items. `NewsDecoder` reads the fields, as on a topic.
enum Ninjs {
    /// - Parameters:
    ///   - bytes: UTF-8.
    ///   - list: the member of an object that contains the items, as in Superdesk's content API.
    static func read(_ bytes: [UInt8], list: StaticString? = nil) throws(NotAFeed) -> FeedDocument {
        var document = FeedDocument(format: .ninjs)
        let isEmptyList =
            list == nil ? isEmptyArray(bytes) : JSONItems(bytes, in: list).first { _ in true } == nil
        let decoder = NewsDecoder()
        let extras = JSONParser(sizeMax: EventLimits.document)
        func entry(_ item: ArraySlice<UInt8>) -> Result<FeedEntry, Undecodable> {
            do throws(Undecodable) {
                var entry = FeedEntry(try decoder.decode(SourceRecord(offset: 0, value: Array(item))))
                try item.withUnsafeBufferPointer { item throws(Undecodable) in
                    entry.read(try extras.object(in: item))
                }
                return .success(entry)
            } catch {
                return .failure(error)
            }
        }
        for var item in JSONItems(bytes, in: list) {
            guard document.entries.count + document.skipped.count < FeedLimits.entriesRead else {
                document.entriesLeftOut += 1
                continue
            }
            var result = entry(item)
            if case .failure = result, let repaired = JSONRepair.repaired(Array(item)) {
                item = repaired[...]
                result = entry(item)
            }
            switch result {
            case .success(let entry): document.entries.append(entry)
            case .failure(let error):
                if let entry = retraction(item, after: error, extras) {
                    document.entries.append(entry)
                    continue
                }
                // The error's detail quotes the document. An editor finds the item by its id instead.
                document.skipped.append(
                    SkippedItem(id: error.eventID, "the item cannot be read: \(error.reason.rawValue)"))
            }
        }
        // Items may be missing behind the last one.
        document.isCutOff = list == nil && isUnclosedArray(bytes)
        // An error message, such as `[{"error": "quota"}]`, is not a feed without entries.
        guard !document.entries.isEmpty || document.skipped.contains(where: { $0.id != nil }) || isEmptyList else {
            throw NotAFeed(.unknown, "The JSON text is not a feed: no object in it has the uri or guid of a ninjs item")
        }
        return document
    }

    /// True when the text is an array without any value: the list of an agency that has no news.
    private static func isEmptyArray(_ bytes: [UInt8]) -> Bool {
        bytes.lazy.filter { !$0.isMarkupBlank }.elementsEqual("[]".utf8)
    }

    private static func isUnclosedArray(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first(where: { !$0.isMarkupBlank }), first == UInt8(ascii: "[") else { return false }
        return bytes.last { !$0.isMarkupBlank } != UInt8(ascii: "]")
    }

    /// Reads an item that must not be sent, despite its faults. A canceled one usually has no headline, which every event needs. An
    /// unreadable status or embargo, also one that is no text, withholds the item, because an earlier version may still wait for its
    /// time. With another fault, an item under embargo can withhold that version only, and becomes news once it can be read.
    private static func retraction(
        _ item: ArraySlice<UInt8>, after error: Undecodable, _ parser: JSONParser
    ) -> FeedEntry? {
        guard let id = error.eventID, let object = item.withUnsafeBufferPointer({ try? parser.object(in: $0) }) else {
            return nil
        }
        var entry = FeedEntry(id: id)
        entry.fault = "the item cannot be read: \(error.reason.rawValue)"
        var isWithheld = error.reason == .unknownStatus
        for member in object {
            if case .null = member.value { continue }
            let name = String(decoding: member.name.prefix(16), as: UTF8.self).asciiLowercased
            guard case .string(let text) = member.value, text.count <= EventLimits.version else {
                if ["pubstatus", "embargoed", "embargoeduntil"].contains(name) { isWithheld = true }
                continue
            }
            let value = String(decoding: text, as: UTF8.self)
            switch name {
            case "pubstatus":
                let status = value.asciiLowercased
                let isCanceled = ["canceled", "cancelled", "stat:canceled"].contains(status)
                entry.status = isCanceled ? .canceled : .usable
            case "headline": entry.headline = value.nonBlank
            case "embargoed", "embargoeduntil":
                if let end = Instant(rfc3339: value) { entry.embargo = .until(end) } else { isWithheld = true }
            case "versioncreated": entry.updatedAt = Instant(rfc3339: value)
            case "version": entry.version = value.nonBlank.map { NewsEvent.Version($0) }
            default: break
            }
        }
        if entry.status == .canceled { return entry }
        if isWithheld { entry.status = .withheld }
        return isWithheld || entry.embargo != .none ? entry : nil
    }
}

extension FeedEntry {
    fileprivate init(_ event: NewsEvent) {
        self.init(id: event.id, headline: event.headline)
        summary = event.summary
        link = event.link.flatMap { WebAddress($0)?.text }
        publishedAt = event.publishedAt
        expiresAt = event.expiresAt
        embargo = event.embargoUntil.map { .until($0) } ?? .none
        language = event.language
        categories = event.categories.map { Term($0) }
        subjects = event.subjects
        image = event.image.flatMap { WebAddress($0)?.text }
        urgency = event.urgency
        status = event.status
        version = event.version
    }

    /// Reads the members that an event does not have.
    fileprivate mutating func read(_ item: JSONObject) {
        for member in item {
            guard case .string(let text) = member.value, text.count <= EventLimits.summary else { continue }
            let value = String(decoding: text, as: UTF8.self).nonBlank
            switch String(decoding: member.name.prefix(16), as: UTF8.self).asciiLowercased {
            // The publisher meant to withhold the item, but did not say until when.
            case "embargoed", "embargoeduntil": if value == nil { embargo = .untilFurtherNotice }
            case "ednote": editorialNote = value
            // The event has it as the time of publication.
            case "versioncreated": updatedAt = publishedAt
            case "byline": author = value
            case "type": itemClass = value
            default: break
            }
        }
    }
}

/// Finds the objects of a JSON text: the text itself, the elements of an array, or those of one list in an object. It
/// finds only where each object begins and ends.
private struct JSONItems: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var position = 0
    private var end: Int

    /// - Parameter list: the name of the list; `nil` for the text itself.
    init(_ bytes: [UInt8], in list: StaticString?) {
        self.bytes = bytes
        end = bytes.count
        guard let list else { return }
        let found = Self.range(of: list, bytes)
        position = found.lowerBound
        end = found.upperBound
    }

    mutating func next() -> ArraySlice<UInt8>? {
        var start: Int?
        var depth = 0
        var isInString = false
        while position < end {
            let byte = bytes[position]
            position += 1
            if isInString {
                if byte == UInt8(ascii: "\\") { position += 1 }
                if byte == UInt8(ascii: "\"") { isInString = false }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): isInString = start != nil
            case UInt8(ascii: "{"):
                if start == nil { (start, depth) = (position - 1, 0) }
                depth += 1
            case UInt8(ascii: "}"):
                depth -= 1
                guard depth <= 0, let start else { continue }
                return bytes[start..<position]
            default: break
            }
        }
        // An object may be cut off in the middle. Its reader then reports the error.
        return start.map { bytes[$0..<end] }
    }

    /// The range of the array with this name in the outermost object; empty if it is missing.
    private static func range(of list: StaticString, _ bytes: [UInt8]) -> Range<Int> {
        let name = Array("\"\(list)\"".utf8)
        var (depth, start, index) = (0, 0, 0)
        var isNamed = false
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let from = index
                index += 1
                while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                if depth == 1 { isNamed = index < bytes.count && bytes[from...index] == name[...] }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                guard depth == 2, isNamed else { break }
                if bytes[index] == UInt8(ascii: "[") { start = index + 1 } else { isNamed = false }
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                if depth == 1, start > 0, isNamed { return start..<index }
            default: break
            }
            index += 1
        }
        return start > 0 ? start..<bytes.count : 0..<0
    }
}
