import ByteText
public import NewsModel

/// Decodes records that other programs may have written. No sequence of bytes may trap or stop the reading.
extension ControlRecord {
    /// The meaning of one record.
    public struct Reading: Sendable, Hashable {
        /// `nil` if the record has no meaning for us.
        public var record: ControlRecord?
        /// The problem with the record: it is counted and raises an alarm. An invalid stop is obeyed nevertheless.
        public var fault: Fault?
        /// The recall whose key an invalid record has. Compaction keeps only the newest record of a key, so the recall would be
        /// lost unless it is written again.
        public var hidden: ControlScope?
    }

    public enum Fault: String, Sendable, Hashable, CaseIterable {
        case key = "its key does not belong on the control topic"
        case tooLarge = "it is too large"
        case value = "its value is not a JSON object that says what is to be done"
        case command = "its command is not known"
        case kind = "it is an order of a kind that this version does not know, and it may be a stop"
    }

    /// Maximum size of a record's key and value together, in bytes.
    public static let sizeMax = 64 << 10

    /// Returns a record's key for people: cut, and with escapes for characters that cannot be seen or that end a line.
    static func shown(key: [UInt8]) -> String {
        let hidden: [Unicode.GeneralCategory] = [.control, .format, .lineSeparator, .paragraphSeparator]
        return String(decoding: key, as: UTF8.self).cut(toBytes: TextLimit.key).unicodeScalars
            .map { hidden.contains($0.properties.generalCategory) ? $0.escaped(asASCII: true) : String($0) }.joined()
    }

    /// - Parameter record: Its offset serves as a missing order id, and its timestamp as a missing time.
    public static func read(_ record: SourceRecord) -> Reading {
        guard record.byteCount <= sizeMax, let key = record.key.flatMap({ String(validating: $0, as: UTF8.self) })
        else { return Reading(fault: record.byteCount > sizeMax ? .tooLarge : .key) }
        if let scope = ControlScope(key: key) {
            guard scope.nameLength <= EventLimits.orderKey else { return Reading(fault: .key) }
            guard let value = record.value else {
                guard let lapsed = record.headers.last(where: { $0.name == lapsedHeader })?.text else {
                    return Reading(record: .lifted(scope))
                }
                let until = record.headers.last { $0.name == lapsedUntilHeader }?.text.flatMap { Instant(rfc3339: $0) }
                return Reading(record: .lapsed(scope, order: lapsed, until: until))
            }
            return order(scope, value, record)
        }
        if key == environmentKey { return environment(record.value, group: nil) }
        if key.hasPrefix(environmentPrefix) {
            let group = String(key.dropFirst(environmentPrefix.count))
            guard !group.isEmpty, group.utf8.count <= TextLimit.name else { return Reading(fault: .key) }
            return environment(record.value, group: group)
        }
        if key == heldTotalsKey || key.hasPrefix(heldTotalsPrefix), let value = record.value {
            guard let fields = Fields(value), let count = fields.count else { return Reading(fault: .value) }
            let totals = HeldTotals(count: count, last: fields.mark, writtenAt: record.timestamp)
            let topic = key == heldTotalsKey ? nil : String(key.dropFirst(heldTotalsPrefix.count))
            return Reading(record: .heldTotals(totals, topic: topic))
        }
        if key.hasPrefix(proposalPrefix) {
            let id = String(key.dropFirst(proposalPrefix.count))
            guard let value = record.value else { return Reading(record: .proposalEnded(id: id)) }
            // Who approves an id must get what was hashed to it.
            guard let (proposal, approval) = try? Proposal.decode(value), proposal.id == id else {
                return Reading(fault: .value)
            }
            return Reading(record: .proposed(proposal, approval))
        }
        guard key.hasPrefix(beatPrefix) else {
            // A tombstone deletes an invalid record and has no meaning of its own.
            guard let value = record.value else { return Reading() }
            let isNamed = !key.isEmpty && !key.hasSuffix("/")
            return Reading(fault: isNamed && Fields(value)?.command != nil ? .kind : .key)
        }
        let replica = String(key.dropFirst(beatPrefix.count))
        guard !replica.isEmpty, replica.utf8.count <= TextLimit.name else { return Reading(fault: .key) }
        guard let value = record.value else { return Reading(record: .ended(replica: replica)) }
        guard let fields = Fields(value), let at = fields.at ?? record.timestamp else { return Reading(fault: .value) }
        return Reading(
            record: .beat(
                Beat(
                    replica: replica, at: at, logTime: fields.logTime, appliedTo: fields.appliedTo,
                    orders: fields.orders,
                    process: fields.version.map {
                        ProcessDescription(version: $0, shards: fields.shards, group: fields.group, hub: fields.hub)
                    })))
    }

    /// Decodes an order. An invalid stop is in force too, because its key suffices and everything unsent can be sent later.
    private static func order(_ scope: ControlScope, _ value: [UInt8], _ record: SourceRecord) -> Reading {
        let fields = Fields(value)
        let isKnown = fields.map { $0.command == scope.verb } ?? false
        if !isKnown, case .recall = scope { return Reading(fault: fields == nil ? .value : .command, hidden: scope) }
        return Reading(
            record: .stands(Order(scope, fields ?? Fields(), record)),
            fault: isKnown ? nil : fields == nil ? .value : .command)
    }

    /// - Parameter group: a further group; `nil` for the first one, whose name is in the value.
    private static func environment(_ value: [UInt8]?, group: String?) -> Reading {
        guard let value else { return Reading(record: .noEnvironment(group: group)) }
        guard let fields = Fields(value), let name = fields.environment, let host = fields.host, let hub = fields.hub
        else { return Reading(fault: .value) }
        let environment = HubEnvironment(
            name: name, host: host, hub: hub, group: group ?? fields.group, isImplied: fields.isImplied)
        return Reading(record: .environment(environment, isFirst: group == nil))
    }
}

extension ControlScope {
    fileprivate var nameLength: Int {
        switch self {
        case .recall(let story): story.utf8.count
        case .stop(let gate): gate.path.utf8.count
        }
    }
}

extension Order {
    fileprivate init(_ scope: ControlScope, _ fields: Fields, _ record: SourceRecord) {
        let at = fields.at ?? record.timestamp ?? Instant(milliseconds: 0)
        var until = fields.until
        // Recalls without an end time lapse too, because they would accumulate otherwise.
        if case .recall = scope { until = until ?? at + Self.recallLasts }
        self.init(
            id: fields.id ?? "offset \(record.offset)", scope: scope, at: at, by: fields.by ?? "unknown",
            reason: fields.reason, until: until, replacement: fields.replacement)
    }
}

/// Limits of the texts kept from a record, in bytes, because ten thousand orders stay in memory.
enum TextLimit {
    static let name = 256
    static let key = 128
    static let reason = 512
    static let replacement = 1_024
}

/// The members of a value. Members of another type count as absent, and longer texts are cut.
private struct Fields {
    var id: String?
    var command: String?
    var at: Instant?
    var by: String?
    var reason: String?
    var until: Instant?
    var replacement: String?
    var environment: String?
    var host: String?
    var hub: String?
    var group: String?
    var isImplied = false
    var logTime: Duration?
    var appliedTo: Int64?
    var orders: Int?
    var version: String?
    var shards: Int?
    var count: Int?
    var partition: Int32?
    var offset: Int64?
    var identity: UInt64?

    /// Highest valid time of the log: about 1,000 years. Higher values count as absent.
    private static let logTimeMax: Int64 = 1_000 * 366 * 86_400_000

    /// Highest valid number of held events or orders. Higher values count as absent.
    private static let heldMax: Int64 = 1 << 40

    init() {}

    /// - Returns: `nil` unless the value is a JSON object.
    init?(_ value: [UInt8]) {
        let parser = JSONParser(sizeMax: ControlRecord.sizeMax, depthMax: 8)
        let isRead = value.withUnsafeBufferPointer { bytes in
            guard let object = try? parser.object(in: bytes) else { return false }
            for member in object {
                let name = String(decoding: member.name, as: UTF8.self)
                switch member.value {
                case .string(let text): read(name, String(decoding: text, as: UTF8.self))
                case .integer(let number): read(name, number)
                case .boolean(let flag) where name == "implied": isImplied = flag
                default: break
                }
            }
            return true
        }
        // The decoded values refer to the parser's memory.
        withExtendedLifetime(parser) {}
        if !isRead { return nil }
    }

    var mark: HeldMark? {
        guard let partition, let offset, let identity else { return nil }
        return HeldMark(HeldPlace(partition, offset), identity: identity)
    }

    private mutating func read(_ name: String, _ text: String) {
        switch name {
        case "id": id = text.cut(toBytes: TextLimit.name)
        case "do": command = text.cut(toBytes: TextLimit.name)
        case "at": at = Instant(rfc3339: text)
        case "by": by = text.cut(toBytes: TextLimit.name)
        case "reason": reason = text.cut(toBytes: TextLimit.reason)
        case "until": until = Instant(rfc3339: text)
        case "replacement": replacement = text.cut(toBytes: TextLimit.replacement)
        case "environment": environment = text.cut(toBytes: TextLimit.name)
        case "host": host = text.cut(toBytes: TextLimit.name)
        case "hub": hub = text.cut(toBytes: TextLimit.name)
        case "group": group = text.cut(toBytes: TextLimit.name)
        case "version": version = text.cut(toBytes: TextLimit.name)
        case "identity": identity = UInt64(text, radix: 16)
        default: break
        }
    }

    private mutating func read(_ name: String, _ number: Int64) {
        switch name {
        case "logTime" where (0...Self.logTimeMax).contains(number): logTime = .milliseconds(number)
        case "appliedTo": appliedTo = number
        case "orders" where (0...Self.heldMax).contains(number): orders = Int(exactly: number)
        case "shards" where (0...Self.heldMax).contains(number): shards = Int(exactly: number)
        case "count" where (0...Self.heldMax).contains(number): count = Int(exactly: number)
        case "partition": partition = Int32(exactly: number)
        case "offset": offset = number
        default: break
        }
    }
}
