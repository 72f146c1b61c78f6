import ByteText
import Foundation
package import NewsModel

/// Finds results that may contain a name. Other results are skipped without decoding their JSON.
package struct NamedResults: Sendable {
    /// `nil` for a name that is not ASCII: "é" has two spellings in Unicode, and orders mean both.
    private let needle: [UInt8]?

    package init(_ name: String) {
        guard name.utf8.allSatisfy({ $0 < 0x80 }) else {
            needle = nil
            return
        }
        var needle: [UInt8] = []
        JSONEscaping.append(name, to: &needle)
        self.needle = needle
    }

    /// - Returns: `nil` for a record that cannot contain the name, or without a result.
    package func result(in record: SourceRecord) -> ResultRecord? {
        guard let value = record.value, needle.map(value.contains) ?? true else { return nil }
        return try? ResultRecord(decoding: value)
    }
}

extension [UInt8] {
    /// Returns true if the bytes contain the needle as a contiguous sequence.
    fileprivate func contains(_ needle: [UInt8]) -> Bool {
        guard count >= needle.count else { return false }
        return withUnsafeBytes { hay in
            needle.withUnsafeBytes { needle in
                guard let start = hay.baseAddress, let wanted = needle.baseAddress, let first = needle.first else {
                    return true
                }
                let last = hay.count - needle.count
                var index = 0
                while index <= last, let found = memchr(start + index, Int32(first), last - index + 1) {
                    if memcmp(found, wanted, needle.count) == 0 { return true }
                    index = start.distance(to: UnsafeRawPointer(found)) + 1
                }
                return false
            }
        }
    }
}
