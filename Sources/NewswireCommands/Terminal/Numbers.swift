/// `1 event`, `12,345 events`.
///
/// - Parameter plural: for nouns that take more than an s.
package func counted(_ count: Int, _ noun: String, plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// 12345 as `12,345`.
func grouped(_ number: Int) -> String {
    var grouped = ""
    for (index, digit) in String(max(number, 0)).reversed().enumerated() {
        if index > 0, index % 3 == 0 { grouped.append(",") }
        grouped.append(digit)
    }
    return String(grouped.reversed())
}

/// 123 tenths as `12.3`.
func decimal(tenths: Int64) -> String { "\(tenths / 10).\(tenths % 10)" }
