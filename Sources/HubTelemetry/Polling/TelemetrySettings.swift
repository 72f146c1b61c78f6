/// The settings for a process that polls the hub about sends.
public struct TelemetrySettings: Sendable, Hashable {
    /// The share of each lane's accepted sends to poll, in millionths; 0 for lanes that are not named.
    public var sample: [String: Int]
    /// The lanes, most urgent first.
    public var lanes: [String]
    /// Questions per second of the whole group.
    public var perSecond: Int
    /// The most questions in flight.
    public var inFlightMax = 4
    /// The most sends to follow. At the limit no further results are read.
    public var openMax = 10_000
    /// The group from `kafka.group`. Sends of other groups may have gone to another hub.
    public var group: String

    public init(sample: [String: Int], lanes: [String], perSecond: Int, group: String) {
        self.sample = sample
        self.lanes = lanes
        self.perSecond = perSecond
        self.group = group
    }

    func rank(of lane: String) -> Int { lanes.firstIndex(of: lane) ?? lanes.count }

    public static let whole = 1_000_000

    /// All sends of the first lane, and a hundredth of the others.
    public static func standardSample(lanes: [String]) -> [String: Int] {
        Dictionary(lanes.enumerated().map { ($1, $0 == 0 ? whole : whole / 100) }) { first, _ in first }
    }

    public static let standardPerSecond = 2
}
