/// `1 event`, `12,345 events`.
///
/// - Parameter plural: for nouns that take more than an s.
public func counted(_ count: some BinaryInteger, _ noun: String, plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// 12345 as `12,345`; numbers below zero as `0`.
public func grouped(_ number: some BinaryInteger) -> String {
    var grouped = ""
    for (index, digit) in String(max(number, 0)).reversed().enumerated() {
        if index > 0, index.isMultiple(of: 3) { grouped.append(",") }
        grouped.append(digit)
    }
    return String(grouped.reversed())
}

/// 123 tenths as `12.3`.
public func decimal(tenths: Int64) -> String { "\(tenths / 10).\(tenths % 10)" }

extension Int {
    /// Reads a whole number of ASCII digits only, without a sign or separators.
    public init?(digits text: some StringProtocol) {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        self.init(text)
    }
}

/// The minutes after midnight of a time of day such as `7:05` or `22:30`, up to `24:00`; `nil` for other texts.
public func minutesAfterMidnight(_ text: some StringProtocol) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
        let hours = Int(digits: parts[0]), let minutes = Int(digits: parts[1]), minutes < 60,
        hours < 24 || hours == 24 && minutes == 0
    else { return nil }
    return hours * 60 + minutes
}
