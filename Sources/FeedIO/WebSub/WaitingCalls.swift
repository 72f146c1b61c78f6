import Feeds
import Synchronization

/// Hubs' calls that have been handed over and are not answered yet.
final class WaitingCalls: Sendable {
    private struct Waiting {
        var bytes: Int
        var answered: CheckedContinuation<WebSubAnswer, Never>
    }

    private struct State {
        var last: UInt64 = 0
        var bytes = 0
        var waiting: [CallbackID: Waiting] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    private let countMax: Int
    private let bytesMax: Int
    private let hand: @Sendable (CallbackID, WebSubCall) -> Void

    init(countMax: Int, bytesMax: Int, hand: @escaping @Sendable (CallbackID, WebSubCall) -> Void) {
        self.countMax = countMax
        self.bytesMax = bytesMax
        self.hand = hand
    }

    /// Hands the call over and waits for its answer.
    /// - Parameter begin: receives the call's number before the call is handed over, so that the call can be ended.
    /// - Returns: 503 if there is no room for the call.
    func ask(_ call: WebSubCall, begin: (CallbackID) -> Void) async -> WebSubAnswer {
        let bytes = call.bodyCount
        return await withCheckedContinuation { continuation in
            let id = state.withLock { state -> CallbackID? in
                guard !state.isClosed, state.waiting.count < countMax, bytes <= bytesMax - state.bytes else {
                    return nil
                }
                state.last += 1
                state.bytes += bytes
                let id = CallbackID(state.last)
                state.waiting[id] = Waiting(bytes: bytes, answered: continuation)
                return id
            }
            guard let id else { return continuation.resume(returning: Self.noRoom) }
            begin(id)
            hand(id, call)
        }
    }

    func answer(_ id: CallbackID, _ answer: WebSubAnswer) {
        let waiting = state.withLock { state in
            let waiting = state.waiting.removeValue(forKey: id)
            state.bytes -= waiting?.bytes ?? 0
            return waiting
        }
        waiting?.answered.resume(returning: answer)
    }

    /// Ends all waiting calls with 503 and accepts no more.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            state.bytes = 0
            defer { state.waiting = [:] }
            return state.waiting
        }
        for call in waiting.values { call.answered.resume(returning: Self.noRoom) }
    }

    static let noRoom = WebSubAnswer(status: 503)
}

extension WebSubCall {
    fileprivate var bodyCount: Int {
        if case .delivery(_, let body) = kind { body.count } else { 0 }
    }
}
