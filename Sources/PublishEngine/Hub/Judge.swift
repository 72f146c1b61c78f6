public import NewsModel
import NotificationHub

/// What a reply means for the delivery and for everyone: the table of the hub's status codes, and what design adds.
public enum Verdict: Sendable, Hashable {
    case accepted
    /// This one is refused for its own fault; another try changes nothing.
    case rejected(ResultRecord.Failure)
    /// Certainly not taken. `after` is what the hub asked of everyone; `isBusy` when the hub reports overload; `isCharged`
    /// when it was on the wire.
    case notAccepted(ResultRecord.Failure, after: Duration?, isBusy: Bool, isCharged: Bool)
    /// Never reached the hub: no attempt is charged.
    case unreachable(ResultRecord.Failure)
    /// May have been taken. `hubIsAway` when nobody, or only a gateway, was there to answer.
    case unknown(ResultRecord.Failure, hubIsAway: Bool)
    /// The token was refused: once with a fresh one, then a halt.
    case tokenRefused(ResultRecord.Failure)
    /// Nobody's request would pass.
    case halt(Halt.Reason, ResultRecord.Failure)
}

/// Judges replies. Pure: the same reply always means the same.
public enum Judge {
    public static func verdict(on reply: Reply) -> Verdict {
        switch reply {
        case .replied(let reply): verdict(on: reply)
        case .unanswered(let detail): .unknown(.init(code: "no-reply", detail: detail), hubIsAway: true)
        case .notSent(.connectionLost, let detail):
            .notAccepted(.init(code: "connection-lost", detail: detail), after: nil, isBusy: false, isCharged: false)
        case .notSent(.unreachable, let detail): .unreachable(.init(code: "unreachable", detail: detail))
        case .notSent(.certificate, let detail): .halt(.certificate, .init(code: "certificate", detail: detail))
        case .notSent(.invalid, let detail): .rejected(.init(code: "invalid-request", detail: detail))
        }
    }

    private static func verdict(on reply: HubReply) -> Verdict {
        if case .accepted = reply.meaning { return .accepted }
        let failure = ResultRecord.Failure(
            code: "status-\(reply.status)", detail: reply.detail ?? "the hub answered \(reply.status)")
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
