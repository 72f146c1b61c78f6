public import NewsModel
import NotificationHub

/// The meaning of a reply for the delivery and for the hub as a whole.
public enum Verdict: Sendable, Hashable {
    case accepted
    /// The hub refused this event for its own fault; another attempt would change nothing.
    case rejected(ResultRecord.Failure)
    /// Certainly not accepted. `after` is the pause that the hub asked for; `isBusy` if the hub reports overload; `isCharged`
    /// if the request was on the wire.
    case notAccepted(ResultRecord.Failure, after: Duration?, isBusy: Bool, isCharged: Bool)
    /// Never reached the hub: no attempt is charged.
    case unreachable(ResultRecord.Failure)
    /// May have been accepted. `hubIsAway` if no answer came, or only a gateway's.
    case unknown(ResultRecord.Failure, hubIsAway: Bool)
    /// The token was refused: one retry with a fresh token, then a halt.
    case tokenRefused(ResultRecord.Failure)
    /// Any other request would fail too.
    case halt(Halt.Reason, ResultRecord.Failure)
}

/// Judges replies by the hub's status codes. Pure: the same reply always gets the same verdict.
public enum Judge {
    public static func verdict(on reply: Reply) -> Verdict {
        switch reply {
        case .replied(let reply): verdict(on: reply)
        case .unanswered(let detail): .unknown(.init(.noReply, detail), hubIsAway: true)
        case .notSent(.connectionLost, let detail):
            .notAccepted(.init(.connectionLost, detail), after: nil, isBusy: false, isCharged: false)
        case .notSent(.unreachable, let detail): .unreachable(.init(.unreachable, detail))
        case .notSent(.certificate, let detail): .halt(.certificate, .init(.certificate, detail))
        case .notSent(.invalid, let detail): .rejected(.init(.invalidRequest, detail))
        }
    }

    private static func verdict(on reply: HubReply) -> Verdict {
        if case .accepted = reply.meaning { return .accepted }
        let failure = ResultRecord.Failure(
            code: "status-\(reply.status)", detail: reply.message ?? "the hub answered \(reply.status)")
        return switch reply.meaning {
        case .accepted: .accepted
        case .refusedEvent: .rejected(failure)
        case .tokenRefused: .tokenRefused(failure)
        case .forbidden: .halt(.rightMissing, failure)
        case .missingHub: .halt(.hubMissing, failure)
        case .throttled(let after): .notAccepted(failure, after: after, isBusy: true, isCharged: true)
        case .busy(let after): .notAccepted(failure, after: after, isBusy: true, isCharged: true)
        case .unknownAcceptance: .unknown(failure, hubIsAway: reply.status == 502 || reply.status == 504)
        }
    }
}
