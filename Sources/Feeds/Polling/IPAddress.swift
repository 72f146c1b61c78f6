/// The address of a machine, in the form that sockets use.
public enum IPAddress: Sendable, Hashable {
    case v4(UInt32)
    case v6(high: UInt64, low: UInt64)

    /// Takes 4 or 16 bytes in network order, as sockets have them.
    public init?(bytes: some Collection<UInt8>) {
        let word = { (part: any Collection<UInt8>) in part.reduce(into: UInt64(0)) { $0 = $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self = .v4(UInt32(truncatingIfNeeded: word(bytes)))
        case 16: self = .v6(high: word(bytes.prefix(8)), low: word(bytes.dropFirst(8)))
        default: return nil
        }
    }

    /// True if the address means the same machine for everybody on the internet. For IPv6, which is mostly unassigned,
    /// this is an allow list. IANA's special-purpose registries; RFC 6890.
    public var isPublic: Bool {
        switch self {
        case .v4(let address): !Self.specialIPv4.contains { $0.contains(address) }
        // NAT64: in networks without IPv4, every IPv4 machine has such an address. RFC 6052.
        case .v6(0x0064_FF9B_0000_0000, let low) where low >> 32 == 0:
            IPAddress.v4(UInt32(truncatingIfNeeded: low)).isPublic
        case .v6(let high, _): high >> 61 == 1 && !Self.specialIPv6.contains { $0.contains(high) }
        }
    }

    private struct Block<Number: FixedWidthInteger & Sendable>: Sendable {
        var start: Number
        var bits: Int

        func contains(_ address: Number) -> Bool { (address ^ start) >> (Number.bitWidth - bits) == 0 }
    }

    private static let specialIPv4: [Block<UInt32>] = [
        Block(start: 0x0000_0000, bits: 8),  // this network, 0.0.0.0
        Block(start: 0x0A00_0000, bits: 8),  // private, 10/8
        Block(start: 0x6440_0000, bits: 10),  // carriers' NAT, 100.64/10
        Block(start: 0x7F00_0000, bits: 8),  // loopback
        Block(start: 0xA9FE_0000, bits: 16),  // link-local, with the clouds' metadata services
        Block(start: 0xAC10_0000, bits: 12),  // private, 172.16/12
        Block(start: 0xC000_0000, bits: 24),  // protocol assignments, 192.0.0/24
        Block(start: 0xC000_0200, bits: 24),  // documentation, 192.0.2/24
        Block(start: 0xC058_6300, bits: 24),  // 6to4 relays, 192.88.99/24
        Block(start: 0xC0A8_0000, bits: 16),  // private, 192.168/16
        Block(start: 0xC612_0000, bits: 15),  // benchmarks, 198.18/15
        Block(start: 0xC633_6400, bits: 24),  // documentation, 198.51.100/24
        Block(start: 0xCB00_7100, bits: 24),  // documentation, 203.0.113/24
        Block(start: 0xE000_0000, bits: 3),  // multicast, reserved, broadcast
    ]

    /// Blocks within 2000::/3, the only part of IPv6 that is routed. Blocks are at most 64 bits long.
    private static let specialIPv6: [Block<UInt64>] = [
        Block(start: 0x2001_0000_0000_0000, bits: 23),  // protocol assignments, Teredo
        Block(start: 0x2001_0DB8_0000_0000, bits: 32),  // documentation
        Block(start: 0x2002_0000_0000_0000, bits: 16),  // 6to4: IPv4 inside
        Block(start: 0x3FFF_0000_0000_0000, bits: 20),  // documentation
    ]
}
