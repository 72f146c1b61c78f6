import Foundation

/// A unique name for one process, from its start to its end. It combines the host's name with a random suffix.
public enum ReplicaName {
    public static func make() -> String {
        var bytes = [CChar](repeating: 0, count: 256)
        let isKnown = gethostname(&bytes, bytes.count - 1) == 0
        let name = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let host = isKnown && !name.isEmpty ? String(name.prefix(60)) : "host"
        return host + "-" + String(UInt32.random(in: 0x10_0000...0xFF_FFFF), radix: 16)
    }
}
