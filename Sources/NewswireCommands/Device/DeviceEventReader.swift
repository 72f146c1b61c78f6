import Foundation

/// Reads server-sent events from bytes as they come, cut anywhere.
struct DeviceEventReader {
    /// Of one line, in bytes; a longer one is no event of a hub's, whose bodies have at most 64 KiB.
    static let lineMax = 1024 * 1024

    private var line: [UInt8] = []
    private var isTooLong = false
    private var data: [UInt8] = []

    /// - Returns: the data of the events that are complete now.
    mutating func read(_ bytes: some Sequence<UInt8>) -> [Data] {
        var events: [Data] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                if line.count < Self.lineMax { line.append(byte) } else { isTooLong = true }
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty {
                if !data.isEmpty { events.append(Data(data)) }
                data = []
            } else if !isTooLong, line.starts(with: "data:".utf8), data.count < Self.lineMax {
                if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
                let value = line.dropFirst(5)
                data += value.first == UInt8(ascii: " ") ? value.dropFirst() : value
            }
            line.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        return events
    }
}
