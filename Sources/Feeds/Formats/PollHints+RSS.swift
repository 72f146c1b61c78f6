import ByteText

extension PollHints {
    /// Reads an RSS channel's requests about polling times.
    init(channel: MarkupElement) {
        if let text = channel.first("ttl", in: .rss)?.text, let minutes = Int32(text.trimmed), minutes > 0 {
            timeToLive = .seconds(Int64(minutes) * 60)
        }
        for hour in channel.first("skipHours", in: .rss)?.all("hour", in: .rss) ?? [] {
            // Older versions of RSS count from 1 to 24.
            if let number = Int(hour.text.trimmed), (0...24).contains(number) { skippedHours.insert(number % 24) }
        }
        for day in channel.first("skipDays", in: .rss)?.all("day", in: .rss) ?? [] {
            let name = day.text.trimmed
            if let index = Self.days.firstIndex(where: { name.equalsIgnoringASCIICase($0) }) {
                skippedDays.insert(index + 1)
            }
        }
        updatePeriod = Self.updatePeriod(of: channel)
    }

    private static let days = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    /// Reads the syndication module: a number of updates in a period.
    private static func updatePeriod(of channel: MarkupElement) -> Duration? {
        let period = channel.first("updatePeriod", in: .syndication)?.text.trimmed.asciiLowercased
        let frequency = channel.first("updateFrequency", in: .syndication).flatMap { Int32($0.text.trimmed) }
        guard period != nil || frequency != nil else { return nil }
        let hours: Int64
        switch period {
        case "hourly": hours = 1
        case nil, "daily": hours = 24
        case "weekly": hours = 7 * 24
        case "monthly": hours = 30 * 24
        case "yearly": hours = 365 * 24
        default: return nil
        }
        return .seconds(hours * 3_600 / Int64(max(frequency ?? 1, 1)))
    }
}
