/// The hash that Kafka's clients use to choose partitions: MurmurHash2 with Kafka's seed.
public enum Murmur2 {
    /// The partition of a key among `count`, as Kafka's default partitioner chooses it.
    ///
    /// - Parameter count: at least 1; less counts as 1.
    public static func partition(of key: String, among count: Int32) -> Int32 {
        let hash = key.withBytes { (bytes) -> UInt32 in Self.hash(bytes) }
        return Int32(hash & 0x7FFF_FFFF) % max(count, 1)
    }

    public static func hash(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let factor: UInt32 = 0x5BD1_E995
        var hash: UInt32 = 0x9747_B28C ^ UInt32(truncatingIfNeeded: bytes.count)
        var rest = bytes[...]
        while rest.count >= 4 {
            var word: UInt32 = 0
            for (place, byte) in rest.prefix(4).enumerated() { word |= UInt32(byte) << UInt32(place * 8) }
            word &*= factor
            word ^= word >> 24
            word &*= factor
            hash = hash &* factor ^ word
            rest = rest.dropFirst(4)
        }
        if !rest.isEmpty {
            for (place, byte) in rest.enumerated() { hash ^= UInt32(byte) << UInt32(place * 8) }
            hash &*= factor
        }
        hash ^= hash >> 13
        hash &*= factor
        return hash ^ hash >> 15
    }
}
