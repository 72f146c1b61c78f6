import ByteText
import Crypto

/// Short names by which a notification replaces another on the phone; equal for all repeats and updates of a story.
package enum CollapseID {
    /// At most 64 bytes of visible ASCII, Apple's limit for `apns-collapse-id`.
    ///
    /// The story itself when it fits, else `~` and its SHA-256. A story that begins with `~` is hashed too, so that no
    /// story can take the name of another.
    package static func name(of story: String) -> String {
        let isPlain = story.withBytes { bytes in
            guard (1...64).contains(bytes.count), bytes[0] != UInt8(ascii: "~") else { return false }
            // This loop has no branches, so that the compiler can vectorise it.
            var others: UInt8 = 0
            for byte in bytes { others |= (0x21...0x7E).contains(byte) ? 0 : 1 }
            return others == 0
        }
        if isPlain { return story }
        return "~" + hash(of: story)
    }

    /// At most 16 letters and digits, WNS's limit for `X-WNS-Tag`. The story itself if it has at most 15; otherwise
    /// exactly 16 that stand for 80 bits of its hash. Every template send has one, so the hash is a quick one: FNV-1a with two
    /// multipliers. A publisher who looks for a collision gains only that one of its stories replaces another.
    package static func shortName(of story: String) -> String {
        let utf8 = story.utf8
        let isPlain =
            (1...15).contains(utf8.count)
            && utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter }
        if isPlain { return story }
        var (one, other): (UInt64, UInt64) = (0xCBF2_9CE4_8422_2325, 0x8422_2325_CBF2_9CE4)
        story.withBytes { bytes in
            for byte in bytes {
                one = (one ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
                other = (other ^ UInt64(byte)) &* 0x9E37_79B9_7F4A_7C15
            }
        }
        // The upper bits depend on all bytes.
        (one, other) = ((one ^ other >> 32) &* 0x9E37_79B9_7F4A_7C15, other ^ one >> 29)
        return String(unsafeUninitializedCapacity: 16) { text in
            for place in 0..<16 {
                let half = place < 8 ? one : other
                text[place] = base32[Int(half >> (UInt64(24 + 5 * (place & 7))) & 31)]
            }
            return 16
        }
    }

    /// A number from 0 to 2^31 - 1, for platforms that identify notifications by numbers.
    package static func number(of story: String) -> UInt32 {
        SHA256.hash(data: Array(story.utf8)).prefix(4).reduce(0) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    }

    private static let base64 = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let base32 = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    /// The SHA-256 in 43 letters, digits, `-` and `_`.
    private static func hash(of story: String) -> String {
        var text: [UInt8] = []
        var held = 0
        var buffer = 0
        for byte in SHA256.hash(data: Array(story.utf8)) {
            buffer = (buffer << 8 | Int(byte)) & 0xFFFF
            held += 8
            while held >= 6 {
                held -= 6
                text.append(base64[buffer >> held & 63])
            }
        }
        text.append(base64[buffer << (6 - held) & 63])
        return String(decoding: text, as: UTF8.self)
    }
}
