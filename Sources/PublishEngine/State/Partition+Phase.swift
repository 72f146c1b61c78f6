import KafkaModel
import NewsModel

/// The phases of a partition that is ours, and what each permits.
extension Partition {
    enum Phase: Sendable, Hashable {
        /// The slot waits for its next partition. Followed by `restoring`.
        case free
        /// The ledger is being read and nothing may be sent; `failure` is that of the last try. Followed by `active`.
        case restoring(since: Instant, failure: KafkaFailure?)
        /// Records are read and sent. Followed by `paused`, `finishing` or `draining`.
        case active
        /// Reading is paused until fewer records are open. Followed by `active`, `finishing` or `draining`.
        case paused
        /// The partition's offsets start again. Records of the former incarnation are finished without commits.
        /// Followed by `restoring` or `draining`.
        case finishing(since: Instant)
        /// Being released: sends nothing new and awaits requests in flight. The offsets of a former incarnation are
        /// never committed. Followed by `free`.
        case draining(commitsWatermark: Bool)
    }

    var isFree: Bool { if case .free = phase { true } else { false } }
    var isRestoring: Bool { if case .restoring = phase { true } else { false } }
    var isDraining: Bool { if case .draining = phase { true } else { false } }
    var isFinishing: Bool { if case .finishing = phase { true } else { false } }
    var isPaused: Bool { if case .paused = phase { true } else { false } }

    /// New records are accepted.
    var isReading: Bool {
        switch phase {
        case .active, .paused: true
        case .free, .restoring, .finishing, .draining: false
        }
    }

    /// The partition's deliveries may leave.
    var isSending: Bool {
        switch phase {
        case .active, .paused, .finishing: true
        case .free, .restoring, .draining: false
        }
    }

    /// False for a former incarnation, whose offsets would hide records of the present one.
    var mayCommitWatermark: Bool {
        switch phase {
        case .restoring, .active, .paused: true
        case .draining(let commitsWatermark): commitsWatermark
        case .free, .finishing: false
        }
    }
}
