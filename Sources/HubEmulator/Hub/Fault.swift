import ByteText

/// Something the hub does wrong on purpose, so that a client's answer to it can be seen.
public struct Fault: Sendable, Hashable {
    public enum Reset: String, Sendable, Hashable {
        /// The request is not looked at.
        case before
        /// The request takes its effect, its answer is lost.
        case after
    }

    /// The status to answer with instead of doing what was asked.
    public var status: Int?
    /// Seconds for `Retry-After` beside `status`.
    public var retryAfter: Int?
    /// Milliseconds that every answer is held back.
    public var latencyMilliseconds: Int64 = 0
    public var reset: Reset?
    /// Tokens count as expired.
    public var expiresTokens = false
    /// Bytes a second at which the answer's body is sent.
    public var slowBody: Int?
    /// How many more calls it strikes; `nil` for no end.
    public var next: Int?
    /// Which part of the calls it strikes, in millionths; `nil` for all.
    public var shareMillionths: UInt64?
    /// Whether it strikes every call rather than sends alone.
    public var everyCall = false

    public init() {}

    /// Reads the fields of `POST /_emulator/faults`: `status`, `retryAfter`, `latencyMs`, `reset`, `expired`,
    /// `slowBody`, `next`, `share` (0…1) and `on` (`sends` or `all`).
    /// - Throws: a sentence that names the field that is wrong.
    public init(json: JSONValue) throws(FaultProblem) {
        guard case .object(let members) = json else { throw FaultProblem("A fault is a JSON object.") }
        for member in members { try read(member) }
        if status == nil, reset == nil, slowBody == nil, !expiresTokens, latencyMilliseconds == 0 {
            throw FaultProblem("A fault needs status, latencyMs, reset, expired or slowBody.")
        }
    }

    private mutating func read(_ member: JSONValue.Member) throws(FaultProblem) {
        switch (member.name, member.value) {
        case ("status", let value): status = try Self.number(value, in: 400...599, of: member.name)
        case ("retryAfter", let value): retryAfter = try Self.number(value, in: 0...86_400, of: member.name)
        case ("latencyMs", let value):
            latencyMilliseconds = Int64(try Self.number(value, in: 0...600_000, of: member.name))
        case ("slowBody", let value): slowBody = try Self.number(value, in: 1...1_000_000, of: member.name)
        case ("next", let value): next = try Self.number(value, in: 1...1_000_000_000, of: member.name)
        case ("expired", .bool(let value)): expiresTokens = value
        case ("reset", .string(let word)):
            guard let value = Reset(rawValue: word) else { throw FaultProblem("reset must be before or after.") }
            reset = value
        case ("on", .string(let word)):
            guard word == "sends" || word == "all" else { throw FaultProblem("on must be sends or all.") }
            everyCall = word == "all"
        case ("share", .number(let text)):
            guard let share = Double(text), share >= 0, share <= 1 else { throw FaultProblem("share must be 0 to 1.") }
            shareMillionths = UInt64(share * 1_000_000)
        default: throw FaultProblem("\(member.name.prefix(40)) is no field of a fault, or has the wrong type.")
        }
    }

    private static func number(_ value: JSONValue, in range: ClosedRange<Int>, of name: String) throws(FaultProblem)
        -> Int
    {
        guard let number = value.integer, range.contains(number) else {
            throw FaultProblem("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return number
    }

    public var json: JSONValue {
        var members: [JSONValue.Member] = []
        if let status { members.append(.init("status", .integer(status))) }
        if let retryAfter { members.append(.init("retryAfter", .integer(retryAfter))) }
        if latencyMilliseconds > 0 { members.append(.init("latencyMs", .integer(latencyMilliseconds))) }
        if let reset { members.append(.init("reset", .string(reset.rawValue))) }
        if expiresTokens { members.append(.init("expired", .bool(true))) }
        if let slowBody { members.append(.init("slowBody", .integer(slowBody))) }
        if let next { members.append(.init("next", .integer(next))) }
        if let shareMillionths { members.append(.init("share", .number(String(Double(shareMillionths) / 1_000_000)))) }
        members.append(.init("on", .string(everyCall ? "all" : "sends")))
        return .object(members)
    }
}

/// Why a fault's description was refused.
public struct FaultProblem: Error, Sendable, Hashable {
    public var message: String

    init(_ message: String) { self.message = message }
}

/// The faults that are set, oldest first.
struct FaultPlan: Sendable {
    /// Faults held at most; the oldest gives way.
    static let countMax = 100

    private(set) var faults: [Fault] = []

    mutating func add(_ fault: Fault) {
        if faults.count == Self.countMax { faults.removeFirst() }
        faults.append(fault)
    }

    mutating func removeAll() { faults = [] }

    /// The faults that strike this call, counted as used. Chance is drawn only for faults that have a share.
    mutating func strike(isSend: Bool, using random: inout SeededRandom) -> [Fault] {
        guard !faults.isEmpty else { return [] }
        var struck: [Fault] = []
        for index in faults.indices where isSend || faults[index].everyCall {
            if let share = faults[index].shareMillionths, random.next() % 1_000_000 >= share { continue }
            struck.append(faults[index])
            if let next = faults[index].next { faults[index].next = next - 1 }
        }
        faults.removeAll { $0.next == 0 }
        return struck
    }
}
