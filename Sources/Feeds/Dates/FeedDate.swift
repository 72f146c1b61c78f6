import NewsModel

/// Reads the dates that feeds write.
enum FeedDate {
    static func read(_ text: String, zoneMinutes: Int) -> Instant? {
        nil
    }
}
