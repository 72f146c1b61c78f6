import ByteText
public import NewsModel

// JSON of one audit line, as in `schemas/control-audit.schema.json`. The record's key is the key of the order's scope.

extension AuditEntry {
    /// Encodes the line as it is written to the topic. Absent values are omitted; long texts are cut.
    public func encode() -> [UInt8] {
        JSONWriter.object { json in
            json.field("at", at)
            json.field("scope", scope)
            json.field("do", action.rawValue)
            json.field("id", order)
            json.field("by", by?.cut(toBytes: TextLimit.name))
            json.field("reason", reason?.cut(toBytes: TextLimit.reason))
            if let former { json.object("former") { former.write(into: &$0) } }
            json.field("text", text?.cut(toBytes: TextLimit.replacement))
            if !despite.isEmpty { json.array("despite", of: despite) }
            if let requests {
                json.object("requests") { json in
                    json.field("story", requests.story)
                    json.field("group", requests.group)
                    json.field("count", requests.count)
                }
            }
            json.field("replica", replica)
            if let applied {
                json.object("applied") { json in
                    json.field("waiting", applied.waiting)
                    json.field("inFlight", applied.inFlight)
                    json.field("held", applied.held)
                }
            }
        }
    }

    /// Reads the form that `encode` writes; unknown members are ignored.
    ///
    /// - Throws: the problem, naming the field.
    public init(decoding bytes: [UInt8]) throws(Undecodable) {
        let parser = JSONParser(sizeMax: Self.sizeMax)
        let fields = try JSONFields(bytes, parser)
        defer { withExtendedLifetime(parser) {} }
        self.init(
            at: try fields.required("at", fields.instant("at")),
            scope: try fields.required("scope", fields.string("scope")),
            action: try fields.required("do", fields.word("do")),
            order: try fields.string("id"), by: try fields.string("by"), reason: try fields.string("reason"),
            replica: try fields.string("replica"))
        text = try fields.string("text")
        despite = try fields.strings("despite")
        if let former = try fields.object("former") { self.former = try FormerOrder(former) }
        if let requests = try fields.object("requests"), let story = try requests.string("story"),
            let group = try requests.string("group"), let count: Int = try requests.integer("count")
        {
            self.requests = AnnouncedRequests(story: story, group: group, count: count)
        }
        if let counts = try fields.object("applied") {
            applied = AppliedOrder(
                order: order ?? scope, waiting: max(0, try counts.integer("waiting") ?? 0),
                inFlight: max(0, try counts.integer("inFlight") ?? 0), held: max(0, try counts.integer("held") ?? 0))
        }
    }

    /// Largest line that is decoded, in bytes.
    static let sizeMax = 64 << 10
}

extension FormerOrder {
    package func write(into json: inout JSONWriter) {
        json.field("id", id.cut(toBytes: TextLimit.name))
        json.field("at", at)
        json.field("by", by.cut(toBytes: TextLimit.name))
        json.field("reason", reason?.cut(toBytes: TextLimit.reason))
    }

    fileprivate init(_ fields: JSONFields) throws(Undecodable) {
        self.init(
            id: try fields.required("former.id", fields.string("id")),
            at: try fields.required("former.at", fields.instant("at")), by: try fields.string("by") ?? "unknown",
            reason: try fields.string("reason"))
    }
}
