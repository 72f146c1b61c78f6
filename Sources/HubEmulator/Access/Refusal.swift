/// Why the hub does not do what it was asked.
struct Refusal: Error, Sendable, Hashable {
    var status: Int
    /// The sentence that starts `<Detail>`; `nil` for an answer without a body.
    var message: String?
    /// Seconds for `Retry-After`.
    var retryAfter: Int64?

    static func badRequest(_ message: String) -> Refusal { Refusal(status: 400, message: message) }

    /// 403 without a body and without `Retry-After`: a right is missing.
    static let rightMissing = Refusal(status: 403)

    static func forbidden(_ message: String) -> Refusal { Refusal(status: 403, message: message) }

    static func notFound(_ message: String) -> Refusal { Refusal(status: 404, message: message) }
}
