/// A lane by its place in the settings: 0 is the most urgent.
public struct LaneID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let index: Int

    public init(_ index: Int) { self.index = index }

    public static func < (lhs: LaneID, rhs: LaneID) -> Bool { lhs.index < rhs.index }
    public var description: String { "lane \(index)" }
}

/// An event loop of the process with the partitions it owns.
public struct ShardID: Hashable, Comparable, Sendable {
    public let index: Int

    public init(_ index: Int) { self.index = index }

    /// Partition p of every topic belongs to shard p modulo the number of shards, so that a record and its results meet
    /// in one shard.
    public init(of partition: Int32, shards: Int) { index = Int(partition.magnitude) % max(shards, 1) }

    public static func < (lhs: ShardID, rhs: ShardID) -> Bool { lhs.index < rhs.index }
}

/// Counts the assignments of a lane in one process. Inputs of earlier generations are obsolete.
public struct Generation: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let number: Int

    public init(_ number: Int) { self.number = number }

    /// The generation before the first assignment.
    public static let none = Generation(0)
    public var next: Generation { Generation(number + 1) }

    public static func < (lhs: Generation, rhs: Generation) -> Bool { lhs.number < rhs.number }
    public var description: String { "generation \(number)" }
}

/// Names one delivery while its partition belongs to the engine. Only the engine interprets it. At most 55 bits, so
/// that it travels through the producer and returns with the acknowledgement.
public struct DeliveryID: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue & Self.mask }

    public static let mask: UInt64 = 1 << 55 - 1
}
