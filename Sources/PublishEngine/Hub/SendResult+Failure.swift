import NewsModel
import NotificationHub

extension SendResult {
    /// The failure for a result record. Not used for an accepted send.
    var failure: ResultRecord.Failure {
        switch self {
        case .replied(let reply):
            .init(code: "status-\(reply.status)", detail: reply.message ?? "the hub answered \(reply.status)")
        case .unknown(let failure): .init(.noReply, failure.description)
        case .notSent(let failure): .init(meaning.codeIfNotSent, failure.description)
        }
    }
}

extension SendMeaning {
    /// The result is about this one event, so the hub and the key work.
    var concernsOnlyEvent: Bool {
        switch self {
        case .accepted, .refusedEvent, .invalid: true
        case .tokenRefused, .forbidden, .missingHub, .certificate, .unreachable, .connectionLost, .busy,
            .unknownAcceptance:
            false
        }
    }

    /// The reason to halt at once, because a person must act; `nil` without one.
    var haltReason: Halt.Reason? {
        switch self {
        case .certificate: .certificate
        case .forbidden: .rightMissing
        case .missingHub: .hubMissing
        case .accepted, .refusedEvent, .invalid, .tokenRefused, .unreachable, .connectionLost, .busy,
            .unknownAcceptance:
            nil
        }
    }

    fileprivate var codeIfNotSent: FailureCode {
        switch self {
        case .certificate: .certificate
        case .invalid: .invalidRequest
        case .unreachable: .unreachable
        default: .connectionLost
        }
    }
}
