import ByteText
package import Foundation

/// One delivery as the emulator describes it, with the text that the phone would show.
package struct DeviceNotification: Sendable {
    /// The delivery's number in the hub's count.
    let number: Int
    /// The time of the delivery in RFC 3339.
    let time: String
    let isShown: Bool
    /// The id of the send that caused the delivery.
    let message: String
    /// True if the notification makes no sound.
    package let isQuiet: Bool
    let category: String?
    let text: String
    /// The delivery as the emulator wrote it, on one line.
    let json: String

    /// - Returns: `nil` for bytes that do not describe a delivery.
    init?(_ bytes: Data) {
        guard let delivery = try? JSONSerialization.jsonObject(with: bytes) as? [String: Any] else { return nil }
        self.init(delivery)
    }

    package init?(_ delivery: [String: Any]) {
        var delivery = delivery
        let body = delivery["body"] as? String ?? ""
        guard let number = delivery["number"] as? Int, let platform = delivery["platform"] as? String else {
            return nil
        }
        let root = (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any] ?? [:]
        let (aps, content) = (root["aps"] as? [String: Any], root["message"] as? [String: Any])
        let data = platform == "fcmv1" ? content?["data"] as? [String: Any] ?? [:] : root
        if platform == "windows" {
            isQuiet = body.contains(#"<audio silent="true""#)
            (category, text) = Self.windows(body)
        } else {
            isQuiet = data["quiet"] as? String == "true" || aps?["interruption-level"] as? String == "passive"
            let shown: Any? =
                switch platform {
                case "apple": aps?["alert"]
                case "fcmv1": content?["notification"] ?? data["message"]
                default: root["message"] ?? root
                }
            (category, text) = (data["category"] as? String, Self.text(shown) ?? body)
        }
        if isQuiet { delivery["quiet"] = true }
        guard
            let written = try? JSONSerialization.data(
                withJSONObject: delivery, options: [.sortedKeys, .withoutEscapingSlashes])
        else { return nil }
        self.number = number
        time = delivery["time"] as? String ?? ""
        isShown = delivery["outcome"] as? String == "Success"
        json = String(decoding: written, as: UTF8.self)
        message = delivery["messageId"] as? String ?? ""
    }

    /// The delivery as `10:15:02  World  Breaking World News : …`, without control characters.
    package var line: String {
        let clock = String(time.dropFirst(11).prefix(8))
        let text = text.isEmpty ? "(no text)" : text
        let parts = [clock, category ?? "", text, isQuiet ? "(silent)" : ""].filter { !$0.isEmpty }
        return String(
            parts.joined(separator: "  ").map { character in
                let isControl = character.unicodeScalars.contains { $0.properties.generalCategory == .control }
                return isControl ? " " : character
            })
    }

    /// The shown text, which is either one string or a title and a body.
    private static func text(_ shown: Any?) -> String? {
        if let text = shown as? String { return text }
        let parts = ["title", "body"].compactMap { (shown as? [String: Any])?[$0] as? String }
        return parts.isEmpty ? nil : parts.joined(separator: ": ")
    }

    /// The category and text of a toast. If it has several texts, the first one is the category.
    private static func windows(_ body: String) -> (String?, String) {
        var texts: [String] = []
        var rest = body[...]
        while texts.count < 10, let opening = rest.firstRange(of: /<text(?:\s[^>]*)?>/) {
            rest = rest[opening.upperBound...]
            guard let closing = rest.firstRange(of: "</text>") else { break }
            texts.append(XMLText.replacingReferences(String(rest[..<closing.lowerBound])))
            rest = rest[closing.upperBound...]
        }
        guard texts.count > 1 else { return (nil, texts.first ?? body) }
        return (texts[0], texts.dropFirst().joined(separator: " "))
    }
}

/// Reads server-sent events from bytes that arrive in pieces of any size.
package struct DeviceEventReader {
    /// Maximum length of a line, in bytes. Events of a hub are shorter, because their bodies have at most 64 KiB.
    static let lineMax = 1024 * 1024

    private var line: [UInt8] = []
    private var isTooLong = false
    private var data: [UInt8] = []

    package init() {}

    /// - Returns: the data of the events that these bytes complete.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [Data] {
        var events: [Data] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if line.count < Self.lineMax { line.append(byte) } else { isTooLong = true }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty {
                if !data.isEmpty { events.append(Data(data)) }
                data = []
            } else if !isTooLong, line.starts(with: "data:".utf8), data.count < Self.lineMax {
                if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
                let value = line.dropFirst(5)
                data += value.first == UInt8(ascii: " ") ? value.dropFirst() : value
            }
            line.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        return events
    }
}
