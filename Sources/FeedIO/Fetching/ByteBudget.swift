import Synchronization

/// Limits the bytes that all fetches of a process keep at the same time.
///
/// The oldest fetch always gets the bytes that it asks for, so that fetches cannot wait for each other forever.
/// Together, fetches keep at most the budget and one document more.
final class ByteBudget: Sendable {
    struct Ticket: Sendable, Hashable, Comparable {
        fileprivate var number: UInt64

        static func < (lhs: Ticket, rhs: Ticket) -> Bool { lhs.number < rhs.number }
    }

    private struct Waiting {
        var bytes: Int
        var resume: @Sendable () -> Void
    }

    private struct State {
        var left: Int
        var lastNumber: UInt64 = 0
        /// Bytes that each fetch keeps.
        var kept: [Ticket: Int] = [:]
        var waiting: [Ticket: Waiting] = [:]

        mutating func grant(_ bytes: Int, to ticket: Ticket) {
            left -= bytes
            kept[ticket, default: 0] += bytes
        }
    }

    private let state: Mutex<State>

    init(_ bytes: Int) { state = Mutex(State(left: bytes)) }

    func begin() -> Ticket {
        state.withLock { state in
            state.lastNumber += 1
            return Ticket(number: state.lastNumber)
        }
    }

    /// Asks for bytes that a fetch keeps until its end. It must not ask again while it waits.
    ///
    /// - Parameter resume: called on any thread when the bytes are granted later.
    /// - Returns: true if the bytes are granted now.
    func request(_ bytes: Int, for ticket: Ticket, resume: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            state.kept[ticket, default: 0] += 0
            if bytes <= state.left || state.kept.keys.min() == ticket {
                state.grant(bytes, to: ticket)
                return true
            }
            state.waiting[ticket] = Waiting(bytes: bytes, resume: resume)
            return false
        }
    }

    /// Returns the fetch's bytes to the budget. Fetches that waited for bytes resume, the oldest first.
    func end(_ ticket: Ticket) {
        let resumed = state.withLock { state in
            state.left += state.kept.removeValue(forKey: ticket) ?? 0
            state.waiting[ticket] = nil
            var resumed: [@Sendable () -> Void] = []
            for (ticket, waiting) in state.waiting.sorted(by: { $0.key < $1.key }) {
                guard waiting.bytes <= state.left || state.kept.keys.min() == ticket else { break }
                state.grant(waiting.bytes, to: ticket)
                state.waiting[ticket] = nil
                resumed.append(waiting.resume)
            }
            return resumed
        }
        for resume in resumed { resume() }
    }
}
