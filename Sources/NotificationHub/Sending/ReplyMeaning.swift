/// The meaning of a hub's reply for the send, the key, the hub and the pace.
public enum ReplyMeaning: Sendable, Hashable {
    /// The hub accepted the send. A retry would produce a second notification.
    case accepted
    /// The hub refuses the send itself, and would refuse the same bytes again.
    case refusedEvent
    /// The token was refused; a new one may be accepted.
    case tokenRefused
    /// The key, or the hub's tier or quota, does not permit sends. A person must act.
    case forbidden
    /// The address belongs to no hub, or to something that is not a hub. A person must act.
    case missingHub
    /// Not accepted, because the rate is too high. Wait this long.
    case throttled(retryAfter: Duration)
    /// Not accepted, because the hub is overloaded. Wait this long; for `nil`, the caller chooses the wait.
    case busy(retryAfter: Duration?)
    /// The send may have been accepted. A retry may produce a second notification.
    case unknownAcceptance
}

extension ReplyMeaning {
    /// The wait after a 429 without `Retry-After`, as in the .NET client.
    public static let throttledByDefault: Duration = .seconds(10)
}

extension HubReply {
    /// The reply's meaning. It depends only on the status and `Retry-After`.
    ///
    /// | status | meaning | why |
    /// |---|---|---|
    /// | 200, 201 | accepted | recordings show 201; the REST reference also says 200; the .NET client takes both |
    /// | other 2xx | unknown acceptance | no source knows one; a proxy's answer proves neither way |
    /// | 401 | token refused | REST reference |
    /// | 403 | throttled with `Retry-After`, else forbidden | dotnet issue 224; a recording of a Listen key |
    /// | 404 | missing hub | REST reference |
    /// | 429 | throttled | since api-version 2020-06 |
    /// | 503 | busy | the .NET, Java and JavaScript clients all retry it |
    /// | 408, 500, 502, 504 | unknown acceptance | the hub, or a gateway, stopped somewhere in the middle |
    /// | 1xx, 3xx, 405, 407, 421, 426 | missing hub | about the address or the method, see below |
    /// | other 4xx | refused event | RFC 9110 §15.5: the request is at fault; 400 and 413 are the documented ones |
    /// | anything else | unknown acceptance | RFC 9110 §15.6 does not say what was done |
    ///
    /// Every send goes to one address with one method, so a redirect or a refused method affects all sends. A single
    /// event is never the cause. Treating it as the cause would dead-letter a whole stream.
    public var meaning: ReplyMeaning {
        switch status {
        case 200, 201: .accepted
        case 401: .tokenRefused
        case 403: retryAfter.map { .throttled(retryAfter: $0) } ?? .forbidden
        case 404, 405, 407, 421, 426, 100..<200, 300..<400: .missingHub
        case 408: .unknownAcceptance
        case 429: .throttled(retryAfter: retryAfter ?? ReplyMeaning.throttledByDefault)
        case 400..<500: .refusedEvent
        case 503: .busy(retryAfter: retryAfter)
        default: .unknownAcceptance
        }
    }
}
