/// How a process asks what became of sends.
public struct TelemetrySettings: Sendable, Hashable {
    /// The share of each lane's accepted sends that is asked about, in millionths; lanes that are not named have none.
    public var sample: [String: Int]
    /// Most urgent first.
    public var lanes: [String]
    /// Questions a second, of the whole group.
    public var perSecond: Int
    /// Questions under way at a time.
    public var inFlightMax = 4
    /// Sends that are followed at a time; beyond it no further results are read.
    public var openMax = 10_000
    /// `kafka.group`: the sends of other groups may have gone to another hub.
    public var group: String

    public init(sample: [String: Int], lanes: [String], perSecond: Int, group: String) {
        self.sample = sample
        self.lanes = lanes
        self.perSecond = perSecond
        self.group = group
    }

    func rank(of lane: String) -> Int { lanes.firstIndex(of: lane) ?? lanes.count }

    public static let whole = 1_000_000

    /// The first lane whole, of all others a hundredth.
    public static func standardSample(lanes: [String]) -> [String: Int] {
        Dictionary(lanes.enumerated().map { ($1, $0 == 0 ? whole : whole / 100) }) { first, _ in first }
    }

    public static let standardPerSecond = 2
}
