import ByteText
import Foundation
package import NewsModel

/// Finds the results that have a name in them. The others are told apart without being read as JSON.
package struct NamedResults: Sendable {
    private let needle: [UInt8]

    package init(_ name: String) {
        var needle: [UInt8] = []
        JSONEscaping.append(name, to: &needle)
        self.needle = needle
    }

    /// - Returns: `nil` for a record without the name, or one that is no result.
    package func result(in record: SourceRecord) -> ResultRecord? {
        guard let value = record.value, value.contains(needle) else { return nil }
        return try? ResultRecord(decoding: value)
    }
}

extension [UInt8] {
    /// The bytes stand somewhere in it, one after the other.
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
