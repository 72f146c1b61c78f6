/// The limits of a document, so that memory and time are bounded whatever a publisher sends.
public enum FeedLimits {
    /// Bytes of a document after decompression.
    public static let document = 15 << 20
    /// Entries read from one document.
    public static let entriesRead = 2_000
    /// Entries that may lead to events, from the top of the document.
    public static let entriesUsed = 100
    /// Nested elements.
    public static let depth = 256
    /// Attributes of one element.
    public static let attributes = 256
    /// Bytes of an event id; a longer one is replaced by a hash.
    public static let eventID = 512
}
