package import ByteText
public import NotificationHub

/// The record and the delivery that a result reports: the value of the `nw-source` header.
public struct SourceCoordinates: Sendable, Hashable, CustomStringConvertible {
    public var source: ResultRecord.Source
    public var platform: Platform

    public init(source: ResultRecord.Source, platform: Platform) {
        self.source = source
        self.platform = platform
    }

    /// The coordinates as text: `topic/partition/offset/platform`.
    public var description: String { "\(source)/\(platform.rawValue)" }

    /// `description` as header bytes.
    public var headerValue: [UInt8] {
        var bytes = GrowingBytes(capacity: 128)
        write(to: &bytes)
        return Array(bytes.bytes)
    }

    /// Appends the bytes of `description`.
    package func write(to bytes: inout GrowingBytes) {
        bytes.append(source.partition.topic)
        bytes.append(UInt8(ascii: "/"))
        bytes.append(decimal: Int64(source.partition.partition))
        bytes.append(UInt8(ascii: "/"))
        bytes.append(decimal: source.offset)
        bytes.append(UInt8(ascii: "/"))
        bytes.append(platform.rawValue)
    }

    /// Returns `nil` unless the bytes are exactly those of `description`.
    public init?(headerValue: [UInt8]) {
        // The last three parts have a fixed form; only the topic's name is free.
        let parts = headerValue.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 4, (1...249).contains(parts[0].count),
            let topic = String(validating: parts[0], as: UTF8.self),
            let partition = Self.number(parts[1]).flatMap({ Int32(exactly: $0) }),
            let offset = Self.number(parts[2]),
            let platform = Platform(rawValue: String(decoding: parts[3], as: UTF8.self))
        else { return nil }
        let source = ResultRecord.Source(
            partition: TopicPartition(topic: topic, partition: partition), offset: offset)
        self.init(source: source, platform: platform)
    }

    public init?(_ text: String) { self.init(headerValue: Array(text.utf8)) }

    /// Decodes digits without a sign and without leading zeros.
    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        guard let first = digits.first, first != UInt8(ascii: "0") || digits.count == 1 else { return nil }
        var number: Int64 = 0
        for digit in digits {
            guard case let value = digit &- UInt8(ascii: "0"), value <= 9 else { return nil }
            let (scaled, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, overflowed) = scaled.addingReportingOverflow(Int64(value))
            if overflow || overflowed { return nil }
            number = sum
        }
        return number
    }
}

extension ResultRecord.Source: CustomStringConvertible {
    /// The coordinates as text: `topic/partition/offset`.
    public var description: String { "\(partition)/\(offset)" }

    /// `nil` unless the text is `topic/partition/offset`.
    package init?(_ text: String) {
        // A topic's name has no slash.
        guard let coordinates = SourceCoordinates("\(text)/\(Platform.template.rawValue)") else { return nil }
        self = coordinates.source
    }
}

/// One partition of one topic.
public struct TopicPartition: Hashable, Comparable, Sendable, CustomStringConvertible {
    public var topic: String
    public var partition: Int32

    public init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    public static func < (lhs: TopicPartition, rhs: TopicPartition) -> Bool {
        (lhs.topic, lhs.partition) < (rhs.topic, rhs.partition)
    }

    public var description: String { "\(topic)/\(partition)" }
}
