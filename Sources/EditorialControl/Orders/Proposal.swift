internal import ByteText
internal import Crypto
public import NewsModel

/// A command that waits on the control topic until a second person approves it.
///
/// Processes ignore proposals. Only the command that approves one carries it out.
public struct Proposal: Sendable, Hashable {
    public enum Act: String, Sendable, Hashable, CaseIterable {
        case send
        /// The replacement of a recalled story. The recall itself is in force at once.
        case replace
        case resumeHub
    }

    /// The act that is proposed. A command that was approved acts only if it would propose the same again.
    public struct Deed: Sendable, Hashable {
        public var act: Act
        /// The command line that carries it out, from the command's name on, without the configuration, the author and the reason.
        public var arguments: [String]
        /// Its effect, for the person who approves it: by the proposer's configuration, and on the orders in force.
        public var effect: String
        /// The text that readers get; `nil` if they get none.
        public var text: String?
        /// The id of the order that it ends or replaces; `nil` without one.
        public var order: String?

        public init(_ act: Act, arguments: [String], effect: String, text: String? = nil, order: String? = nil) {
            (self.act, self.arguments, self.effect, self.text, self.order) = (act, arguments, effect, text, order)
        }
    }

    public var deed: Deed
    public var by: String
    public var reason: String?
    public var at: Instant
    /// The time of the log (see `LifeSigns`) when it was made; `nil` if no process had written one.
    public var logTime: Duration?

    /// - Parameter at: rounded down to milliseconds, as in its record.
    public init(_ deed: Deed, by: String, reason: String?, at: Instant, logTime: Duration?) {
        (self.deed, self.by, self.reason, self.logTime) = (deed, by, reason, logTime)
        self.at = Instant(milliseconds: at.nanoseconds / 1_000_000)
    }

    /// The approval of a proposal by another person.
    public struct Approval: Sendable, Hashable {
        public var by: String
        /// Differs for each attempt. If two people approve at once, the first record on the topic wins.
        public var token: String

        public init(by: String, token: String) { (self.by, self.token) = (by, token) }
    }

    /// The first 48 bits of a hash of all members, in hexadecimal, so that nothing else can be approved under this id.
    public var id: String { SHA256.hash(data: encode(nil)).prefix(6).hexadecimal }

    /// A proposal that is not approved in this time lapses.
    public static let lasts = Duration.seconds(600)

    /// Returns true if the name is that of the proposer, perhaps at another machine: `anna@desk1` and `Anna@desk2`. Invisible
    /// characters, which some scripts need, make no other person.
    public func isFrom(_ name: String) -> Bool {
        func person(_ name: String) -> String {
            let scalars = name.lowercased().unicodeScalars.prefix { $0 != "@" }.filter {
                !$0.properties.isWhitespace && !$0.properties.isDefaultIgnorableCodePoint
            }
            return String(String.UnicodeScalarView(scalars))
        }
        return person(name) == person(by)
    }

    // MARK: Record

    func encode(_ approval: Approval?) -> [UInt8] {
        JSONWriter.object { json in
            json.field("act", deed.act.rawValue)
            json.array("arguments", of: deed.arguments)
            json.field("effect", deed.effect.isEmpty ? nil : deed.effect)
            json.field("text", deed.text)
            json.field("order", deed.order)
            json.field("by", by)
            json.field("reason", reason)
            json.field("at", at)
            json.field("logTime", milliseconds: logTime)
            guard let approval else { return }
            json.field("approvedBy", approval.by)
            json.field("token", approval.token)
        }
    }

    /// - Throws: the problem, naming the field.
    static func decode(_ bytes: [UInt8]) throws(Undecodable) -> (Proposal, Approval?) {
        let parser = JSONParser(sizeMax: ControlRecord.sizeMax)
        let fields = try JSONFields(bytes, parser)
        defer { withExtendedLifetime(parser) {} }
        let logTime: Int64? = try fields.integer("logTime")
        let deed = Deed(
            try fields.required("act", fields.word("act")), arguments: try fields.strings("arguments"),
            effect: try fields.string("effect") ?? "", text: try fields.string("text"),
            order: try fields.string("order"))
        let proposal = Proposal(
            deed, by: try fields.required("by", fields.string("by")), reason: try fields.string("reason"),
            at: try fields.required("at", fields.instant("at")),
            logTime: logTime.map { .milliseconds($0) })
        guard let by = try fields.string("approvedBy"), let token = try fields.string("token") else {
            return (proposal, nil)
        }
        return (proposal, Approval(by: by, token: token))
    }
}

/// The acts that need the approval of a second person. A stop and a recall never do.
public struct ApprovalRules: Sendable, Hashable {
    public var send = false
    public var replace = false
    public var resumeHub = false

    public init() {}

    public subscript(act: Proposal.Act) -> Bool {
        switch act {
        case .send: send
        case .replace: replace
        case .resumeHub: resumeHub
        }
    }

    /// The act of an order that may not be given without approval; `nil` if the order needs no approval.
    public func act(of instruction: Instruction) -> Proposal.Act? {
        if resumeHub, instruction.lifts, instruction.scope == .stop(.hub) { return .resumeHub }
        return replace && instruction.replacement != nil ? .replace : nil
    }
}

/// The proposals on the control topic.
public struct Proposals: Sendable, Hashable {
    public struct Open: Sendable, Hashable {
        public var proposal: Proposal
        /// The first approval on the topic. The proposal has been or is being carried out.
        public var approval: Proposal.Approval?
    }

    private var open: [String: Open] = [:]
    /// The proposals that have ended, each with the person who approved it. An approval that comes after the end counts for nothing.
    private var ended: [String: String?] = [:]

    /// Further proposals are not kept, nor are the ends of more.
    private static let capacity = 1_000

    /// In the order of their times.
    public var all: [Open] {
        open.values.sorted { ($0.proposal.at, $0.proposal.id) < ($1.proposal.at, $1.proposal.id) }
    }

    public subscript(id: String) -> Open? { open[id] }

    /// The person who approved a proposal that has ended; `nil` if nobody did, or if that is not known any more.
    public func approver(ofEnded id: String) -> String? { ended[id] ?? nil }

    mutating func apply(_ proposal: Proposal, _ approval: Proposal.Approval?) {
        let id = proposal.id
        guard ended[id] == nil else { return }
        if open[id] == nil, open.count < Self.capacity { open[id] = Open(proposal: proposal) }
        if open[id]?.approval == nil { open[id]?.approval = approval }
    }

    mutating func end(_ id: String) {
        let approver = open.removeValue(forKey: id)?.approval?.by
        if ended[id] == nil, ended.count < Self.capacity { ended.updateValue(approver, forKey: id) }
    }
}

extension ControlView {
    /// Returns true if a proposal was not approved in time. The time of the log decides. Without it, the given wall clock does.
    public func hasLapsed(_ proposal: Proposal, at wall: Instant) -> Bool {
        if let then = proposal.logTime, let now = signs.time { return now - then > Proposal.lasts }
        return wall - proposal.at > Proposal.lasts
    }
}
