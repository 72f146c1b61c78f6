/// A reason why a process cannot do its work, or a guarantee is in danger, as in `/readyz`.
public struct ReadinessReason: Sendable, Hashable {
    /// A stable code for programs, e.g. `hub-key-refused`.
    public var code: String
    /// One sentence for people.
    public var detail: String
    /// The next step for an operator.
    public var remedy: String
    /// The affected lane; `nil` for all lanes.
    public var lane: String?

    public init(code: String, detail: String, remedy: String, lane: String? = nil) {
        self.code = code
        self.detail = detail
        self.remedy = remedy
        self.lane = lane
    }

    public func write(into json: inout JSONWriter) {
        json.object { json in
            json.field("code", code)
            json.field("detail", detail)
            json.field("remedy", remedy.isEmpty ? nil : remedy)
            json.field("lane", lane)
        }
    }
}

extension [ReadinessReason] {
    /// The body of the `/readyz` response.
    public var readiness: [UInt8] { JSONWriter.object { writeReadiness(into: &$0) } }

    /// The members `ready` and `reasons` of an object.
    public func writeReadiness(into json: inout JSONWriter) {
        json.field("ready", isEmpty)
        json.array("reasons") { json in
            for reason in self { reason.write(into: &json) }
        }
    }
}
