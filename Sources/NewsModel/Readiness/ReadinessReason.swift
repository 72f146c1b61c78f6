/// A reason why a process cannot do its work, as in `/readyz`.
public struct ReadinessReason: Sendable, Hashable {
    /// A stable code for programs.
    public var code: String
    /// One sentence for people.
    public var detail: String
    public var remedy: String

    public init(code: String, detail: String, remedy: String) {
        self.code = code
        self.detail = detail
        self.remedy = remedy
    }
}

extension [ReadinessReason] {
    /// The body of the `/readyz` response.
    public var readiness: [UInt8] { JSONWriter.object { writeReadiness(into: &$0) } }

    /// The members `ready` and `reasons` of an object.
    public func writeReadiness(into json: inout JSONWriter) {
        json.field("ready", isEmpty)
        json.array("reasons") { json in
            for reason in self {
                json.object { json in
                    json.field("code", reason.code)
                    json.field("detail", reason.detail)
                    json.field("remedy", reason.remedy)
                }
            }
        }
    }
}
