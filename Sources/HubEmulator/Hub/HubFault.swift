import ByteText
package import NotificationHub

/// A misbehaviour of the hub on request, to test how a client reacts.
public struct HubFault: Sendable, Hashable {
    public enum Reset: String, Sendable, Hashable {
        /// The request has no effect.
        case before
        /// The request takes effect, but its answer is lost.
        case after
    }

    /// The status to answer with; the request then has no effect.
    public var status: Int?
    /// Seconds for `Retry-After` beside `status`.
    public var retryAfter: Int?
    /// The delay of every answer, in milliseconds.
    public var latencyMilliseconds: Int64 = 0
    public var reset: Reset?
    public var expiresTokens = false
    /// The speed at which the answer's body is sent, in bytes a second.
    public var slowBody: Int?
    /// The number of further calls that the fault affects; `nil` for all.
    public var callsLeft: Int?
    /// The share of calls that the fault affects, in millionths; `nil` for all.
    public var shareMillionths: UInt64?
    public var calls = Calls.sends

    public enum Calls: String, Sendable, Hashable, CaseIterable {
        case sends
        /// Calls of `GET /messages/{id}`, which return telemetry.
        case telemetry
        case all
    }

    public init() {}

    /// Reads the fields of `POST /_emulator/faults`: `status`, `retryAfter`, `latencyMs`, `reset`, `expired`,
    /// `slowBody`, `next`, `share` (0…1) and `on` (`sends`, `telemetry` or `all`).
    /// - Throws: a sentence that names the invalid field.
    package init(json: JSONTree) throws(HubFaultProblem) {
        guard case .object(let members) = json else { throw HubFaultProblem("A fault is a JSON object.") }
        for member in members { try read(member) }
        if status == nil, reset == nil, slowBody == nil, !expiresTokens, latencyMilliseconds == 0 {
            throw HubFaultProblem("A fault needs status, latencyMs, reset, expired or slowBody.")
        }
    }

    private mutating func read(_ member: JSONTree.Member) throws(HubFaultProblem) {
        switch (member.name, member.value) {
        case ("status", let value): status = try Self.number(value, in: 400...599, of: member.name)
        case ("retryAfter", let value): retryAfter = try Self.number(value, in: 0...86_400, of: member.name)
        case ("latencyMs", let value):
            latencyMilliseconds = Int64(try Self.number(value, in: 0...600_000, of: member.name))
        case ("slowBody", let value): slowBody = try Self.number(value, in: 1...1_000_000, of: member.name)
        case ("next", let value): callsLeft = try Self.number(value, in: 1...1_000_000_000, of: member.name)
        case ("expired", .bool(let value)): expiresTokens = value
        case ("reset", .string(let word)):
            guard let value = Reset(rawValue: word) else { throw HubFaultProblem("reset must be before or after.") }
            reset = value
        case ("on", .string(let word)):
            guard let value = Calls(rawValue: word) else {
                throw HubFaultProblem("on must be sends, telemetry or all.")
            }
            calls = value
        case ("share", .number(let text)):
            guard let share = Double(text), share >= 0, share <= 1 else {
                throw HubFaultProblem("share must be 0 to 1.")
            }
            shareMillionths = UInt64(share * 1_000_000)
        default: throw HubFaultProblem("\(member.name.prefix(40)) is not a field of a fault, or has the wrong type.")
        }
    }

    private static func number(_ value: JSONTree, in range: ClosedRange<Int>, of name: String) throws(HubFaultProblem)
        -> Int
    {
        guard let number = value.integer, range.contains(number) else {
            throw HubFaultProblem("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    package var json: JSONTree {
        [
            "status": status.map { .integer($0) }, "retryAfter": retryAfter.map { .integer($0) },
            "latencyMs": latencyMilliseconds > 0 ? .integer(latencyMilliseconds) : nil,
            "reset": reset.map { .string($0.rawValue) }, "expired": expiresTokens ? .bool(true) : nil,
            "slowBody": slowBody.map { .integer($0) }, "next": callsLeft.map { .integer($0) },
            "share": shareMillionths.map { .number(String(Double($0) / 1_000_000)) }, "on": .string(calls.rawValue),
        ]
    }
}

/// The reason why a fault's description was refused.
public struct HubFaultProblem: Error, Sendable, Hashable {
    public var message: String

    init(_ message: String) { self.message = message }
}

/// The active faults, oldest first.
struct FaultPlan: Sendable {
    /// The most faults kept; the oldest is dropped first.
    static let countMax = 100

    private(set) var faults: [HubFault] = []

    mutating func add(_ fault: HubFault) {
        if faults.count == Self.countMax { faults.removeFirst() }
        faults.append(fault)
    }

    mutating func removeAll() { faults = [] }

    /// Returns the faults that affect this call and counts them as used. Only faults with a share draw a random number.
    /// - Parameter call: `nil` for a call that is neither a send nor about telemetry.
    mutating func use(for call: HubFault.Calls?, using random: inout SeededRandom) -> [HubFault] {
        guard !faults.isEmpty else { return [] }
        var taken: [HubFault] = []
        for index in faults.indices where faults[index].calls == .all || faults[index].calls == call {
            if let share = faults[index].shareMillionths, random.next() % 1_000_000 >= share { continue }
            taken.append(faults[index])
            if let callsLeft = faults[index].callsLeft { faults[index].callsLeft = callsLeft - 1 }
        }
        faults.removeAll { $0.callsLeft == 0 }
        return taken
    }
}
