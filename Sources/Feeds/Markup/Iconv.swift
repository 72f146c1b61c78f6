import CIconv

/// Conversion by the C library, which supports nearly all encodings.
enum Iconv {
    /// Returns the text as UTF-8, with U+FFFD for each invalid byte; `nil` if the C library lacks the encoding.
    static func utf8(_ bytes: [UInt8], from encoding: String) -> [UInt8]? {
        guard let converter = iconv_open("UTF-8", encoding), converter != UnsafeMutableRawPointer(bitPattern: -1) else {
            return nil
        }
        defer { iconv_close(converter) }
        // Skipping less than a whole unit would shift all following text.
        let unit = encoding.hasPrefix("UTF-32") ? 4 : encoding.hasPrefix("UTF-16") ? 2 : 1
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + bytes.count / 2)
        // The buffer has room for any converted chunk. Conversion therefore stops early only at a character that the
        // chunk's end cuts, or at an invalid one.
        let chunk = 4_096
        let room = chunk * 8
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: room) { buffer in
            var input = bytes
            input.withUnsafeMutableBytes { input in
                var position = 0
                while position < input.count {
                    let length = min(chunk, input.count - position)
                    var from = input.baseAddress.map { ($0 + position).assumingMemoryBound(to: CChar.self) }
                    var left = length
                    var to = buffer.baseAddress
                    var free = room
                    _ = iconv(converter, &from, &left, &to, &free)
                    let written = UnsafeRawBufferPointer(start: buffer.baseAddress, count: room - free)
                    text.append(contentsOf: written)
                    position += length - left
                    // The remaining bytes may begin a character only if the next chunk contains its end.
                    let isCut = left > 0 && left < 16 && position + left < input.count
                    if left > 0, !isCut || left == length {
                        text.append(contentsOf: "\u{FFFD}".utf8)
                        position += unit
                    }
                }
            }
        }
        return text
    }
}
