import ByteText
import NotificationHub

/// The two parts of a batch send: a payload and the handles that receive it.
struct MultipartBatch: Sendable {
    /// The most handles in one call.
    static let handlesMax = 1000
    /// The longest body in bytes: the largest payload and the most handles, of 1,024 bytes each, the longest address of
    /// a WNS channel. The service's documentation limits only the payload.
    static let bodyLengthMax = SendRequest.bodyLengthMax + handlesMax * (1024 + 4)

    var payload: [UInt8]
    var contentType: String?
    var handles: [String]

    static func read(_ body: [UInt8], contentType: String) throws(Refusal) -> MultipartBatch {
        guard let boundary = boundary(contentType) else {
            throw .badRequest("The Content-Type must be multipart with a boundary")
        }
        var payload: ArraySlice<UInt8>?
        var payloadType: String?
        var devices: ArraySlice<UInt8>?
        for part in parts(body, boundary: boundary) {
            let (headers, content) = split(part)
            let disposition = headers["Content-Disposition"]?.lowercased() ?? ""
            let name = disposition.split(separator: ";").map(\.trimmed).first { $0.hasPrefix("name") }
            switch name?.split(separator: "=").last.map({ $0.trimmed.filter { $0 != "\"" } }) {
            case "notification": (payload, payloadType) = (content, headers["Content-Type"])
            case "devices": devices = content
            default: break
            }
        }
        guard let payload else { throw .badRequest("The 'notification' part of the multipart content was not found") }
        guard payload.count <= SendRequest.bodyLengthMax else {
            throw Refusal(status: 413, message: "The notification exceeds 64 KB")
        }
        guard let devices else { throw .badRequest("The 'devices' part of the multipart content was not found") }
        return MultipartBatch(payload: Array(payload), contentType: payloadType, handles: try handles(devices))
    }

    /// The boundary in `boundary=x`, with or without quotes, and with or without blanks around the `=`.
    private static func boundary(_ contentType: String) -> String? {
        guard contentType.trimmed.hasPrefixIgnoringASCIICase("multipart/") else { return nil }
        for parameter in contentType.split(separator: ";").dropFirst() {
            let sides = parameter.split(separator: "=", maxSplits: 1).map(\.trimmed)
            guard sides.count == 2, sides[0].equalsIgnoringASCIICase("boundary") else { continue }
            let value = sides[1].filter { $0 != "\"" }
            return 1...200 ~= value.utf8.count ? value : nil
        }
        return nil
    }

    /// The parts between the boundary lines.
    private static func parts(_ body: [UInt8], boundary: String) -> [ArraySlice<UInt8>] {
        let mark = Array("--\(boundary)".utf8)
        var parts: [ArraySlice<UInt8>] = []
        var start: Int?
        var position = 0
        while position + mark.count <= body.count {
            let isLineStart = position == 0 || body[position - 1] == 10
            guard isLineStart, body[position...].starts(with: mark) else {
                position += 1
                continue
            }
            if let start {
                var end = position
                if end > start, body[end - 1] == 10 { end -= 1 }
                if end > start, body[end - 1] == 13 { end -= 1 }
                parts.append(body[start..<end])
            }
            position += mark.count
            if body[position...].starts(with: Array("--".utf8)) { break }
            while position < body.count, body[position] != 10 { position += 1 }
            position = min(position + 1, body.count)
            start = position
        }
        return parts
    }

    private static func split(_ part: ArraySlice<UInt8>) -> (HubHeaders, ArraySlice<UInt8>) {
        var headers = HubHeaders()
        var rest = part
        while let end = rest.firstIndex(of: 10) {
            let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self).trimmed
            rest = rest[(end + 1)...]
            if line.isEmpty { return (headers, rest) }
            let sides = line.split(separator: ":", maxSplits: 1).map(\.trimmed)
            if sides.count == 2 { headers.append(String(sides[0]), String(sides[1])) }
        }
        return (headers, rest)
    }

    /// Reads a JSON array of strings. Apostrophes are accepted as quotes, because the service's documentation uses
    /// them.
    private static func handles(_ bytes: ArraySlice<UInt8>) throws(Refusal) -> [String] {
        let json =
            JSONTree(parsing: Array(bytes))
            ?? JSONTree(parsing: bytes.map { $0 == UInt8(ascii: "'") ? UInt8(ascii: "\"") : $0 })
        guard case .array(let values)? = json else {
            throw .badRequest("The 'devices' part must be a JSON array of strings")
        }
        let handles = values.compactMap(\.string)
        guard handles.count == values.count, !handles.isEmpty, !handles.contains("") else {
            throw .badRequest("The 'devices' part must be a JSON array of strings")
        }
        guard handles.count <= handlesMax else { throw .badRequest("There are more than \(handlesMax) devices") }
        return handles
    }
}
