// The choice of a format for a record.

extension EventFormat {
    /// - Parameter topic: the record's topic; `nil` if it is not known, which matches no format for a topic.
    func matches(
        _ document: JSONObject, _ headers: [RecordHeader], topic: String?
    ) throws(Undecodable) -> Bool {
        if let wanted = condition.topic, wanted != topic { return false }
        guard condition.headers.allSatisfy({ $0.isIn(headers) }) else { return false }
        guard let pointer = condition.member else { return true }
        var isFound = false
        do throws(Undecodable) {
            try pointer.visit(in: .object(document)) { value throws(Undecodable) in
                isFound = condition.accepts(value)
                return !isFound
            }
        } catch {
            throw problem(error, at: "\(pointer), by which documents of this format are recognised")
        }
        return isFound
    }

    /// Names the format and the place in an error.
    func problem(_ error: Undecodable, at place: String) -> Undecodable {
        var error = error
        error.detail = "format \(name), \(place): \(error.detail)"
        error.format = name
        return error
    }
}

extension EventFormat.Condition {
    fileprivate func accepts(_ value: JSONValue) -> Bool {
        if case .null = value { return false }
        guard !values.isEmpty else { return true }
        return value.scalarText.map(values.contains) ?? false
    }
}

extension EventFormat.Condition.Header {
    /// Ignores case, and the parameters of a media type, as in `application/json; charset=utf-8`.
    fileprivate func isIn(_ headers: [RecordHeader]) -> Bool {
        let wanted = value.lowercased()
        return headers.contains { header in
            guard header.name.lowercased() == name.lowercased(), let text = header.text?.lowercased() else {
                return false
            }
            return text == wanted || text.hasPrefix(wanted + ";")
        }
    }
}

extension [RecordHeader] {
    /// True for records that Newswire wrote in its own shape, whatever shape the others on their topic have.
    var isBuiltInShape: Bool {
        contains {
            switch $0.name {
            case HeaderName.replacement, HeaderName.feed: true
            case HeaderName.format: $0.text == HeaderName.builtInFormat
            default: false
            }
        }
    }
}

extension JSONValue {
    /// A string, number or boolean as text; `nil` for null, arrays and objects.
    var scalarText: String? {
        switch self {
        case .string(let text): String(decoding: text, as: UTF8.self)
        case .boolean(let flag): flag ? "true" : "false"
        case .integer, .unsigned, .number: EventText.numeral(self)
        case .null, .array, .object: nil
        }
    }
}
