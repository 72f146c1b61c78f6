import ByteText

/// The id that a hub gives a send: the last segment of the reply's `Location`. It is opaque, and its form has changed.
public enum NotificationID {
    public static let lengthMax = 256

    /// Reads the id from `https://{host}/{hub}/messages/{id}?api-version={v}`.
    /// - Returns: `nil` if the last segment is not an id: `messages` itself, `$batch`, longer than 256 bytes, or with
    ///   characters other than printable ASCII.
    public static func inLocation(_ location: String) -> String? {
        guard location.utf8.count <= 4096 else { return nil }
        let path = location.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let last = path.lastIndex(where: { $0 != UInt8(ascii: "/") }) else { return nil }
        let trimmed = path[...last]
        let start = trimmed.lastIndex(of: UInt8(ascii: "/")).map { trimmed.index(after: $0) } ?? trimmed.startIndex
        guard let id = Substring(trimmed[start...]).percentDecoded(),
            (1...lengthMax).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !id.equalsIgnoringASCIICase("messages"), !id.equalsIgnoringASCIICase("$batch")
        else { return nil }
        return id
    }
}
