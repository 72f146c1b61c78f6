/// What a namespace pays for, and so what its hubs may do.
public enum Tier: String, Sendable, Hashable, CaseIterable {
    case free, basic, standard

    /// Sends a minute that users report for the service; Microsoft documents none.
    public var sendsPerMinute: Int {
        switch self {
        case .free: 100
        case .basic: 900
        case .standard: 11_500
        }
    }

    /// Active devices in a namespace.
    public var devicesMax: Int {
        switch self {
        case .free: 500
        case .basic: 200_000
        case .standard: 10_000_000
        }
    }

    /// The `Location` header of a send, telemetry, scheduled sends and jobs come with Standard only.
    var hasTelemetry: Bool { self == .standard }
    var hasBatch: Bool { self != .free }
}
