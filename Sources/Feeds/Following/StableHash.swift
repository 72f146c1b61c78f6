import ByteText
import Crypto
import NewsModel

/// Hashes that are the same in every process and every version, because the state topic keeps them for weeks.
enum StableHash {
    /// The first 64 bits of SHA-256. Never 0, which means "absent".
    static func of(_ parts: some Sequence<String>) -> UInt64 {
        let words = digest(parts)
        return words.high == 0 ? 1 : words.high
    }

    static func of(_ text: String) -> UInt64 { of(CollectionOfOne(text)) }

    static func digest(_ parts: some Sequence<String>) -> (high: UInt64, low: UInt64) {
        var hasher = SHA256()
        for part in parts {
            part.withBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer($0)) }
            // No text contains this byte, so that "a","bc" differs from "ab","c".
            withUnsafeBytes(of: 0xFF as UInt8) { hasher.update(bufferPointer: $0) }
        }
        return hasher.finalize().withUnsafeBytes { digest in
            let word = { UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: $0, as: UInt64.self)) }
            return (word(0), word(8))
        }
    }
}

/// The 128-bit hash of an entry's key, which identifies the entry in memory and on the state topic.
public struct EntryHash: Sendable, Hashable, Comparable {
    var high: UInt64
    var low: UInt64

    /// - Parameter key: the entry's key, of any length.
    init(_ key: String) {
        (high, low) = StableHash.digest(CollectionOfOne(key))
    }

    /// - Parameter hexadecimal: exactly 32 digits, as `description` writes them.
    init?(hexadecimal text: some StringProtocol) {
        guard text.utf8.count == 32 else { return nil }
        (high, low) = (0, 0)
        for digit in text.utf8 {
            guard let value = digit.hexDigitValue else { return nil }
            (high, low) = (high << 4 | low >> 60, low << 4 | UInt64(value))
        }
    }

    public static func < (lhs: EntryHash, rhs: EntryHash) -> Bool { (lhs.high, lhs.low) < (rhs.high, rhs.low) }
}

extension EntryHash: CustomStringConvertible {
    public var description: String { high.hexDigits + low.hexDigits }
}

extension StableHash {
    /// SHA-256 in lower-case hexadecimal.
    static func full(_ text: String) -> String {
        var hasher = SHA256()
        text.withBytes { hasher.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        return hasher.finalize().hexadecimal
    }
}
