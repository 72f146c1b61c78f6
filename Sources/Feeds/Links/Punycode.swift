import ByteText

/// Host names in other scripts, in the form that DNS uses. RFC 3492.
enum Punycode {
    /// Returns the labels of a host name in lower case, with those outside ASCII encoded.
    /// - Returns: `nil` if a label is longer than DNS allows.
    static func ascii(hostName: String) -> String? {
        guard hostName.utf8.contains(where: { $0 >= 0x80 }) else { return hostName.asciiLowercased }
        var labels: [String] = []
        // East Asian full stops separate labels too. RFC 3490 §3.1.
        for label in hostName.lowercased().split(
            omittingEmptySubsequences: false, whereSeparator: { ".。．｡".contains($0) })
        {
            let scalars = Array(label.unicodeScalars)
            // Each scalar takes at least one byte, so a longer label cannot become valid.
            guard scalars.count <= 63 else { return nil }
            if scalars.allSatisfy(\.isASCII) {
                labels.append(String(label))
            } else {
                guard let encoded = encode(scalars.map(\.value)), encoded.utf8.count <= 59 else { return nil }
                labels.append("xn--" + encoded)
            }
        }
        return labels.joined(separator: ".")
    }

    /// RFC 3492 §6.3. At most 63 scalars are passed, so that products fit into 64 bits.
    private static func encode(_ scalars: [UInt32]) -> String? {
        var output = scalars.filter { $0 < 0x80 }.map { UInt8(truncatingIfNeeded: $0) }
        let basic = output.count
        if basic > 0 { output.append(UInt8(ascii: "-")) }
        var next: UInt64 = 128
        var delta: UInt64 = 0
        var bias: UInt64 = 72
        var handled = basic
        while handled < scalars.count {
            guard let smallest = scalars.filter({ UInt64($0) >= next }).min() else { return nil }
            delta += (UInt64(smallest) - next) * UInt64(handled + 1)
            next = UInt64(smallest)
            for scalar in scalars {
                if UInt64(scalar) < next { delta += 1 }
                guard UInt64(scalar) == next else { continue }
                var rest = delta
                var position: UInt64 = 36
                while true {
                    let threshold = position <= bias ? 1 : min(position - bias, 26)
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
                    rest = (rest - threshold) / (36 - threshold)
                    position += 36
                }
                output.append(digit(rest))
                bias = adapt(delta, handled + 1, isFirst: handled == basic)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func adapt(_ delta: UInt64, _ count: Int, isFirst: Bool) -> UInt64 {
        var delta = delta / (isFirst ? 700 : 2)
        delta += delta / UInt64(count)
        var steps: UInt64 = 0
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }

    /// 0…25 are letters, 26…35 digits.
    private static func digit(_ value: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: value < 26 ? value + 0x61 : value - 26 + 0x30)
    }
}
