import ByteText

/// The body of a hub's error: `<Error><Code>404</Code><Detail>…</Detail></Error>`. The detail is
/// `{message}.TrackingId:{id},TimeStamp:{M/d/yyyy h:mm:ss AM|PM}`. Back ends since 2022 write a blank before
/// `TrackingId` and `+00:00` after the time.
///
/// The body may be missing or be a proxy's page, so no decision depends on it.
public struct ErrorBody: Sendable, Hashable {
    public static let contentType = "application/xml; charset=utf-8"
    /// The longest part of a body that is read, in bytes.
    public static let scannedMax = 16 * 1024
    /// The longest `detail` that is kept, in bytes.
    public static let detailLengthMax = 512

    /// The code, normally the HTTP status.
    public var code: Int?
    /// The detail, trimmed and on one line; `nil` if empty.
    public var detail: String?
    private var isRecent = false

    public init(code: Int?, detail: String?) {
        self.code = code
        self.detail = detail
    }

    /// Creates the body of a hub's error answer.
    /// - Parameters:
    ///   - message: may end in a full stop. The service then writes two.
    ///   - trackingID: a GUID; on older back ends followed by `_G{n}`.
    ///   - now: Unix seconds.
    ///   - isRecent: true for the form of back ends since 2022.
    public init(status: Int, message: String, trackingID: String, at now: Int64, isRecent: Bool = false) {
        let tail = "TrackingId:\(trackingID),TimeStamp:\(Self.timeStamp(now))"
        if isRecent {
            let stop = message.isEmpty ? "" : message.hasSuffix(".") ? " " : ". "
            self.init(code: status, detail: message + stop + tail + " +00:00")
        } else {
            self.init(code: status, detail: "\(message).\(tail)")
        }
        self.isRecent = isRecent
    }

    /// The service's message, without the tracking id and the time that follow it.
    public var message: String? {
        guard let detail else { return nil }
        guard let tail = detail.firstRange(of: "TrackingId:") else { return detail }
        let message = detail[..<tail.lowerBound].trimmed
        return String(message.last == "." ? message.dropLast() : message)
    }

    /// The tracking id in the detail, at most 64 characters. Older back ends send it in no header.
    public var trackingID: String? {
        guard let detail, let label = detail.firstRange(of: "TrackingId:") else { return nil }
        let id = detail[label.upperBound...].prefix { $0 != "," && $0 != " " }
        return (1...64).contains(id.utf8.count) ? String(id) : nil
    }

    /// Appends the body. Replaces characters that XML cannot contain.
    public func write(into bytes: inout [UInt8]) {
        bytes += "<Error".utf8
        if isRecent { bytes += " xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"".utf8 }
        bytes += "><Code>".utf8
        bytes += (code.map { "\($0)" } ?? "").utf8
        bytes += "</Code><Detail>".utf8
        XMLText.append(detail ?? "", in: .content, to: &bytes)
        bytes += "</Detail></Error>".utf8
    }

    /// The time as `M/d/yyyy h:mm:ss AM|PM`, UTC.
    private static func timeStamp(_ now: Int64) -> String {
        let time = CivilTime(secondsSince1970: now)
        let twelve = time.hour % 12 == 0 ? 12 : time.hour % 12
        return "\(time.date.month)/\(time.date.day)/\(time.date.year) "
            + "\(twelve):\(twoDigits(time.minute)):\(twoDigits(time.second)) \(time.hour < 12 ? "AM" : "PM")"
    }

    private static func twoDigits(_ number: Int) -> String {
        number < 10 ? "0\(number)" : "\(number)"
    }
}

extension ErrorBody {
    /// Finds the two elements in any bytes. Does not parse XML, so that it finds the message in a truncated body or one
    /// with a wrong namespace.
    public init(scanning body: some Collection<UInt8>) {
        let bytes = Array(body.prefix(Self.scannedMax))
        let code = Self.content(of: "Code", in: bytes).flatMap { Self.line($0, lengthMax: 32) }
        let detail = Self.content(of: "Detail", in: bytes).flatMap { Self.line($0, lengthMax: Self.detailLengthMax) }
        self.init(code: code.flatMap { Int($0) }, detail: detail)
    }

    /// The bytes between `<name …>` and `</name>`, or to the end of a truncated body.
    private static func content(of name: String, in bytes: [UInt8]) -> ArraySlice<UInt8>? {
        guard let opening = bytes[...].firstRange(of: Array("<\(name)".utf8)) else { return nil }
        let rest = bytes[opening.upperBound...]
        guard let mark = rest.firstIndex(of: UInt8(ascii: ">")), rest[..<mark].last != UInt8(ascii: "/"),
            mark == rest.startIndex || bytes[rest.startIndex] <= 0x20
        else { return nil }
        let content = rest[mark...].dropFirst()
        let closing = content.firstRange(of: Array("</\(name)".utf8))
        return content[..<(closing?.lowerBound ?? content.endIndex)]
    }

    /// The text on one line: entities and control characters replaced, trimmed, and cut between characters.
    private static func line(_ content: ArraySlice<UInt8>, lengthMax: Int) -> String? {
        var line = ""
        var length = 0
        for character in XMLText.replacingReferences(String(decoding: content, as: UTF8.self)).trimmed {
            let shown: Character = character.isWhitespace || character.isControl ? " " : character
            length += shown.utf8.count
            guard length <= lengthMax else { break }
            line.append(shown)
        }
        let trimmed = line.trimmed
        return trimmed.isEmpty ? nil : String(trimmed)
    }
}

extension Character {
    fileprivate var isControl: Bool {
        unicodeScalars.allSatisfy { $0.properties.generalCategory == .control }
    }
}
