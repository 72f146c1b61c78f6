import ByteText
import Crypto

/// Short names by which a notification replaces another on the phone; equal for all repeats and updates of a story.
enum PayloadCollapse {
    /// At most 64 bytes of visible ASCII, Apple's limit for `apns-collapse-id`.
    ///
    /// The story itself when it fits, else `~` and its SHA-256. A story that begins with `~` is hashed too, so that no
    /// story can take the name of another.
    static func id(of story: String) -> String {
        let isPlain = story.withBytes { bytes in
            guard (1...64).contains(bytes.count), bytes[0] != UInt8(ascii: "~") else { return false }
            // This loop has no branches, so that the compiler can vectorise it.
            var others: UInt8 = 0
            for byte in bytes { others |= (0x21...0x7E).contains(byte) ? 0 : 1 }
            return others == 0
        }
        if isPlain { return story }
        return "~" + hash(of: story, length: 43, alphabet: base64, bits: 6)
    }

    /// At most 16 letters and digits, WNS's limit for `X-WNS-Tag`. The story itself if it has at most 15; otherwise
    /// exactly 16 that stand for 80 bits of its SHA-256.
    static func shortID(of story: String) -> String {
        let utf8 = story.utf8
        let isPlain =
            (1...15).contains(utf8.count)
            && utf8.allSatisfy { $0.isASCIIDigit || $0.isASCIILetter }
        return isPlain ? story : hash(of: story, length: 16, alphabet: base32, bits: 5)
    }

    private static let base64 = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    private static let base32 = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)

    private static func hash(of story: String, length: Int, alphabet: [UInt8], bits: Int) -> String {
        var text: [UInt8] = []
        var held = 0
        var buffer = 0
        for byte in SHA256.hash(data: Array(story.utf8)) {
            buffer = (buffer << 8 | Int(byte)) & 0xFFFF
            held += 8
            while held >= bits {
                held -= bits
                text.append(alphabet[buffer >> held & (alphabet.count - 1)])
            }
        }
        if held > 0 { text.append(alphabet[buffer << (bits - held) & (alphabet.count - 1)]) }
        return String(decoding: text.prefix(length), as: UTF8.self)
    }
}
