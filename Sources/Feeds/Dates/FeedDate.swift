import ByteText
public import NewsModel

/// Reads the dates of feeds: RFC 3339 and its W3C profile, the variants of RFC 822, asctime, the basic form of NITF,
/// and Unix time. Month names may be in any language of `MonthName`.
///
/// A date that could mean two days (`1/2/2006`), or that needs a clock (`--12-31`), is unreadable, because no date is
/// better than a wrong one. The same holds for a place that is not in `ZoneRegion`. The name of the day and zone names
/// that are not in `ZoneName` are ignored.
public enum FeedDate {
    /// Maximum bytes of a date.
    static let textMax = 128
    /// Feeds did not exist before. An earlier date comes from a clock that was never set.
    static let earliest = Instant(milliseconds: 631_152_000_000)  // 1990-01-01T00:00:00Z
    /// Offsets of clocks somewhere on Earth, in minutes east of UTC.
    static let offsets = -12 * 60...14 * 60

    /// The content of a date's text.
    struct Reading {
        var instant: Instant
        /// True if the time of day is midnight in the date's own zone, which may stand for the whole day.
        var isMidnight: Bool
    }

    /// - Parameter zoneMinutes: minutes east of UTC, for a date without a zone.
    /// - Returns: `nil` for text that is not a date, a date before 1990 or after 2261, and an offset that no place has.
    ///   A date far in the future is returned; see `isPlausible(_:at:)`.
    public static func read(_ text: some StringProtocol, zoneMinutes: Int = 0) -> Instant? {
        reading(text, zoneMinutes: zoneMinutes)?.instant
    }

    static func reading(_ text: some StringProtocol, zoneMinutes: Int = 0) -> Reading? {
        // Checked first, so that a long text is not copied.
        guard text.utf8.count <= textMax * 2 else { return nil }
        return reading(utf8: text.utf8, zoneMinutes: zoneMinutes)
    }

    /// Reads a date from bytes. White space around them is ignored.
    public static func read(utf8 bytes: some Collection<UInt8>, zoneMinutes: Int = 0) -> Instant? {
        reading(utf8: bytes, zoneMinutes: zoneMinutes)?.instant
    }

    private static func reading(utf8 bytes: some Collection<UInt8>, zoneMinutes: Int) -> Reading? {
        if let reading = bytes.withContiguousStorageIfAvailable({ date(in: $0, zoneMinutes: zoneMinutes) }) {
            return reading
        }
        return Array(bytes.prefix(textMax * 2 + 1)).withUnsafeBufferPointer { date(in: $0, zoneMinutes: zoneMinutes) }
    }

    /// Returns false for a date more than 48 hours ahead of `now`, which must be treated as unreadable. `read` has no
    /// clock, so its caller makes this check.
    public static func isPlausible(_ date: Instant, at now: Instant) -> Bool {
        date <= now + .seconds(48 * 3_600)
    }

    private static func date(in bytes: UnsafeBufferPointer<UInt8>, zoneMinutes: Int) -> Reading? {
        let isBlank = { (byte: UInt8) in byte <= 0x20 }
        guard let first = bytes.firstIndex(where: { !isBlank($0) }),
            let last = bytes.lastIndex(where: { !isBlank($0) }), last - first < textMax
        else { return nil }
        let text = UnsafeBufferPointer(rebasing: bytes[first...last])
        return (rfc3339(text) ?? words(text, zoneMinutes)).flatMap {
            earliest <= $0.instant && $0.instant < .distantFuture ? $0 : nil
        }
    }

    private static func words(_ text: UnsafeBufferPointer<UInt8>, _ zoneMinutes: Int) -> Reading? {
        guard var reader = DateReader(text) else { return nil }
        return reader.read(zoneMinutes: zoneMinutes)
    }

    /// The fast path for most of today's feeds. `DateReader` rejects an offset that is out of range.
    private static func rfc3339(_ text: UnsafeBufferPointer<UInt8>) -> Reading? {
        guard text.count >= 20, let instant = Instant(rfc3339: text) else {
            return nil
        }
        var zone = DigitReader(UnsafeBufferPointer(rebasing: text.suffix(6)))
        let offset = zone.offset() ?? 0
        guard offsets.contains(offset) else { return nil }
        let local = instant + .seconds(offset * 60)
        return Reading(instant: instant, isMidnight: local.nanoseconds % 86_400_000_000_000 == 0)
    }
}
