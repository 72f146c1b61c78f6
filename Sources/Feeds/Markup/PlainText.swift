import ByteText

/// Plain text from HTML.
enum PlainText {
    /// The text of HTML, white space collapsed, cut to at most `limit` bytes between two visible characters.
    /// Returns `nil` when nothing visible is left.
    static func ofHTML(_ html: [UInt8], limit: Int) -> String? {
        ofText(String(decoding: html, as: UTF8.self), limit: limit)
    }

    /// The same for what is plain text already.
    static func ofText(_ text: String, limit: Int) -> String? {
        let text = text.trimmed
        return text.isEmpty ? nil : String(text).cut(toBytes: limit)
    }
}
