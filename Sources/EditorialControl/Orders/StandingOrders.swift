public import NewsModel

/// The orders in force. Bounded: refuses new orders beyond its capacity.
public struct StandingOrders: Sendable, Hashable {
    /// Maximum number of recalls.
    public static let capacity = 10_000
    /// Maximum number of recalls by events, so that an archive with many of them leaves room for editors.
    static let eventCapacity = 9_000
    /// Maximum number of stops. A stop of the hub needs no room, so that it is always possible.
    public static let stopCapacity = 1_000

    private var recalls: [String: Order] = [:]
    private var stops: [Gate: Order] = [:]
    private var ofEvents = 0

    public init() {}

    public var count: Int { recalls.count + stops.count }
    public var isEmpty: Bool { recalls.isEmpty && stops.isEmpty }

    /// All orders, sorted by the keys of their scopes.
    public var all: [Order] {
        recalls.sorted { $0.key < $1.key }.map(\.value) + stopped.compactMap { stops[$0] }
    }

    /// True if there is room for any order.
    var hasRoom: Bool { recalls.count < Self.capacity && stops.count < Self.stopCapacity }

    /// - Returns: false if nothing changed or there is no room.
    @discardableResult
    public mutating func apply(_ change: OrderChange) -> Bool {
        switch change {
        case .lifted(.recall(let story)):
            guard let lifted = recalls.removeValue(forKey: story) else { return false }
            if lifted.isOfEvent { ofEvents -= 1 }
            return true
        case .lifted(.stop(let gate)): return stops.removeValue(forKey: gate) != nil
        case .stands(let order):
            let standing = self[order.scope]
            guard standing != order, standing != nil || hasRoom(for: order) else { return false }
            switch order.scope {
            case .recall(let story):
                if standing?.isOfEvent == true { ofEvents -= 1 }
                if order.isOfEvent { ofEvents += 1 }
                recalls[story] = order
            case .stop(let gate): stops[gate] = order
            }
            return true
        }
    }

    public subscript(scope: ControlScope) -> Order? {
        switch scope {
        case .recall(let story): recalls[story]
        case .stop(let gate): stops[gate]
        }
    }

    public func isRecalled(_ story: String) -> Bool { !recalls.isEmpty && recalls[story] != nil }

    public var stopped: [Gate] { stops.keys.sorted { $0.path < $1.path } }

    public func lapsed(at wall: Instant) -> [Order] {
        (recalls.values.filter { $0.hasLapsed(at: wall) } + stops.values.filter { $0.hasLapsed(at: wall) })
            .sorted { $0.scope.key < $1.scope.key }
    }

    func hasRoom(for order: Order) -> Bool {
        hasRoom(for: order.scope) && (!order.isOfEvent || ofEvents < Self.eventCapacity)
    }

    /// True if there is room for a recall by an event of a lane that is not the most urgent one.
    var hasRoomForOtherLanes: Bool { ofEvents < Self.eventCapacity / 2 }

    /// Returns true if there is room for an editor's order of a scope that has no order in force.
    public func hasRoom(for scope: ControlScope) -> Bool {
        switch scope {
        case .recall: recalls.count < Self.capacity
        // The hub can be stopped regardless of other stops.
        case .stop(.hub): true
        case .stop: stops.count < Self.stopCapacity
        }
    }
}
