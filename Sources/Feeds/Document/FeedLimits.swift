/// The limits of a document, which bound memory and time whatever a publisher sends.
public enum FeedLimits {
    /// Maximum bytes of a document after decompression.
    public static let document = 15 << 20
    /// Maximum number of entries read from one document.
    public static let entriesRead = 2_000
    /// Number of entries, from the top of the document, that may lead to events.
    public static let entriesUsed = 100
    /// Maximum depth of nested elements.
    public static let depth = 256
    /// Maximum number of attributes of one element.
    public static let attributes = 256
    /// Maximum bytes of an event id. A hash replaces a longer id.
    public static let eventID = 512
}
