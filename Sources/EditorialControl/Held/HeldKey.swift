import ByteText

/// The key of a story's record on the held topic: the story's order key, or one for each group of single readers. Other
/// readers of a story have other events, which must not take each other's place.
public enum HeldKey {
    private static let readers = "#readers-"
    private static let digits = 16

    /// - Parameter hash: a hash of the readers.
    public static func key(of orderKey: String, readers hash: UInt64) -> String {
        orderKey + readers + hash.hexDigits
    }

    /// The order key of the story to which a key belongs.
    public static func orderKey(of key: String) -> String {
        let tail = key.utf8.suffix(readers.utf8.count + digits)
        guard tail.starts(with: readers.utf8),
            tail.dropFirst(readers.utf8.count).count == digits,
            tail.suffix(digits).allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
        else { return key }
        return String(key[..<tail.startIndex])
    }
}
