import HubIO
import PublishEngine

extension Reply {
    /// What the pool found out, in the engine's words.
    init(_ result: SendResult) {
        switch result {
        case .replied(let reply): self = .replied(reply)
        case .unknown(let failure): self = .unanswered(detail: failure.description)
        case .notSent(let failure):
            let obstacle: Obstacle =
                switch failure.kind {
                case .tls: .certificate
                case .invalidRequest: .invalid
                case .connectRefused, .dns, .connectTimeout, .connectFailed: .unreachable
                case .queueFull, .poolClosed, .requestTimeout, .reset, .closedEarly, .malformedReply: .connectionLost
                }
            self = .notSent(obstacle, detail: failure.description)
        }
    }
}
