/// What an event may hold. Sizes are in bytes of UTF-8, so that memory per event has a known bound.
///
/// The hub takes 4 KiB per notification, so none of these stands in the way of real news.
public enum EventLimits {
    /// The whole record value.
    public static let document = 1 << 20
    /// Nested arrays and objects.
    public static let depth = 64
    public static let id = 512
    public static let headline = 4_096
    public static let summary = 16_384
    public static let story = 512
    public static let version = 64
    public static let language = 64
    /// `link` and `image`.
    public static let address = 4_096
    /// One category name or subject code.
    public static let category = 256
    /// Members of `categories`, and of `subjects`.
    public static let categories = 128
    /// Members of `data`.
    public static let dataFields = 64
    /// One name in `data`.
    public static let dataName = 128
    /// One value in `data`.
    public static let dataValue = 4_096
}
