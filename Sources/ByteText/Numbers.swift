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
