internal import ByteText
internal import NewsModel

extension Instant {
    /// The time in a `Date` field, e.g. `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7); `nil` for anything else.
    init?(httpDate text: SIMD32<UInt8>) {
        guard text[0] != 0 else { return nil }
        let bytes = (0..<29).map { text[$0] }
        // The present time is needed only for two-digit years, whose dates are shorter.
        guard let seconds = HTTPDate.seconds(of: String(decoding: bytes, as: UTF8.self), now: 0) else { return nil }
        let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return nil }
        self.init(milliseconds: milliseconds)
    }
}
