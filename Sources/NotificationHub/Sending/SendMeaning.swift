/// The meaning of a send's result for the send, the key, the hub and the pace.
public enum SendMeaning: Sendable, Hashable {
    /// The hub accepted the send. A retry would produce a second notification.
    case accepted
    /// The hub refuses the send itself, and would refuse the same bytes again.
    case refusedEvent
    /// The send cannot be written as a request.
    case invalid
    /// The token was refused; a new one may be accepted.
    case tokenRefused
    /// The key, or the hub's tier or quota, does not permit sends. A person must act.
    case forbidden
    /// The address belongs to no hub, or to something that is not a hub. A person must act.
    case missingHub
    /// The hub's certificate is not accepted. A person must act.
    case certificate
    /// The hub cannot be reached.
    case unreachable
    /// Certainly not accepted, because the connection ended before the request was written.
    case connectionLost
    /// Not accepted, because the rate is too high or the hub is overloaded. Wait this long; for `nil`, the caller
    /// chooses the wait.
    case busy(retryAfter: Duration?)
    /// The send may have been accepted. A retry may produce a second notification. `isHubAway` if no reply came, or
    /// only a gateway's.
    case unknownAcceptance(isHubAway: Bool)

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
    /// | 403 | busy with `Retry-After`, else forbidden | dotnet issue 224; a recording of a Listen key |
    /// | 404 | missing hub | REST reference |
    /// | 429 | busy | since api-version 2020-06 |
    /// | 503 | busy | the .NET, Java and JavaScript clients all retry it |
    /// | 408, 500, 502, 504 | unknown acceptance | the hub, or a gateway, stopped somewhere in the middle |
    /// | 1xx, 3xx, 405, 407, 421, 426 | missing hub | about the address or the method, see below |
    /// | other 4xx | refused event | RFC 9110 §15.5: the request is at fault; 400 and 413 are the documented ones |
    /// | anything else | unknown acceptance | RFC 9110 §15.6 does not say what was done |
    ///
    /// Every send goes to one address with one method, so a redirect or a refused method affects all sends. A single
    /// event is never the cause. Treating it as the cause would dead-letter a whole stream.
    public var meaning: SendMeaning {
        switch status {
        case 200, 201: .accepted
        case 401: .tokenRefused
        case 403: retryAfter.map { .busy(retryAfter: $0) } ?? .forbidden
        case 404, 405, 407, 421, 426, 100..<200, 300..<400: .missingHub
        case 408: .unknownAcceptance(isHubAway: false)
        case 429: .busy(retryAfter: retryAfter ?? SendMeaning.throttledByDefault)
        case 400..<500: .refusedEvent
        case 503: .busy(retryAfter: retryAfter)
        case 502, 504: .unknownAcceptance(isHubAway: true)
        default: .unknownAcceptance(isHubAway: false)
        }
    }
}

extension SendResult {
    public var meaning: SendMeaning {
        switch self {
        case .replied(let reply): reply.meaning
        case .unknown: .unknownAcceptance(isHubAway: true)
        case .notSent(let failure):
            switch failure.kind {
            case .tls: .certificate
            case .invalidRequest: .invalid
            case .connectRefused, .dns, .connectTimeout, .connectFailed: .unreachable
            case .queueFull, .waitedTooLong, .poolClosed, .requestTimeout, .refused, .reset, .closedEarly,
                .malformedReply:
                .connectionLost
            }
        }
    }
}
