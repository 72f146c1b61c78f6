public import NewsModel

/// The control topic as somebody sees it who only looks on: what stands, and which processes live.
public struct ControlView: Sendable, Hashable {
    public private(set) var orders = StandingOrders()
    /// Which environment the hub serves; `nil` while nobody has said so.
    public private(set) var environment: HubEnvironment?
    /// Records without a meaning.
    public private(set) var unreadable = 0
    private var beats: [String: ControlRecord.Beat] = [:]

    /// Beats of more processes are not kept: those of an hour, if each were a new process.
    private static let beatsMax = 10_000

    public init() {}

    /// - Returns: what the record says, if it says anything.
    @discardableResult
    public mutating func take(_ record: SourceRecord) -> ControlRecord? {
        let reading = ControlRecord.read(record)
        if reading.fault != nil { unreadable += 1 }
        switch reading.record {
        case .stands(let order): orders.apply(.stands(order))
        case .lifted(let scope): orders.apply(.lifted(scope))
        case .beat(let beat):
            if beats.count < Self.beatsMax || beats[beat.replica] != nil { beats[beat.replica] = beat }
        case .ended(let replica): beats[replica] = nil
        case .environment(let found): environment = found
        case .noEnvironment: environment = nil
        case nil: break
        }
        return reading.record
    }

    /// The processes whose beats are recent enough, in the order of their names.
    public func live(at wall: Instant) -> [ControlRecord.Beat] {
        beats.values.filter { wall - $0.at <= ControlRecord.Beat.countsFor }.sorted { $0.replica < $1.replica }
    }

    /// The orders that stand, in the order of their scopes: an order that has lapsed stands no more, though its record does.
    public func standing(at wall: Instant) -> [Order] {
        orders.all.filter { !$0.hasLapsed(at: wall) }
    }

    /// The order that stands; `nil` for none, or one that has lapsed.
    public func order(_ scope: ControlScope, at wall: Instant) -> Order? {
        orders[scope].flatMap { $0.hasLapsed(at: wall) ? nil : $0 }
    }

    public func isStanding(_ scope: ControlScope, at wall: Instant) -> Bool { order(scope, at: wall) != nil }
}
