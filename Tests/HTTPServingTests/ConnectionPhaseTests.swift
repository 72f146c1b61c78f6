import NIOCore
import Testing

@testable import HTTPServing

struct ConnectionPhaseTests {
    private enum Event {
        case bytes, head, body(Int), end, answer, leave
    }

    private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    private static func phase(after events: [Event]) -> ConnectionPhase {
        var phase = ConnectionPhase(.short(), at: start)
        for event in events {
            switch event {
            case .bytes: phase.receivedBytes(at: start)
            case .head: phase.receivedHead(at: start)
            case .body(let count): phase.receivedBody(count)
            case .end: phase.receivedEnd(at: start)
            case .answer: phase.answered(at: start)
            case .leave: phase.leave(at: start)
            }
        }
        return phase
    }

    /// The limits: 1 s for a first byte, 2 s for a head, 3 s for a body, 4 s between requests, 2 s to close.
    @Test(
        arguments: [
            ([], ConnectionPhase.Activity.silent, 1000, ConnectionPhase.Verdict.close),
            ([.bytes], .receivingHead, 2000, .timeOut),
            ([.bytes, .bytes], .receivingHead, 2000, .timeOut),
            ([.bytes, .head], .receivingBody, 3000, .timeOut),
            // A slow upload gets one more second for each 500 bytes.
            ([.bytes, .head, .body(500), .body(1000)], .receivingBody, 6000, .timeOut),
            ([.head, .end, .answer], .silent, 4000, .close),
            ([.head, .end, .answer, .bytes], .receivingHead, 2000, .timeOut),
            ([.head, .answer], .draining, 2000, .close),
            ([.head, .answer, .end], .silent, 4000, .close),
            // Time for a request that arrived during the first answer counts from the end of that answer.
            ([.head, .end, .head, .answer], .receivingBody, 3000, .timeOut),
            ([.head, .end, .leave], .leaving, 2000, .close), ([.answer, .leave, .bytes], .leaving, 2000, .close),
        ] as [([Event], ConnectionPhase.Activity, Int64, ConnectionPhase.Verdict)])
    private func `a client that owes a step is late after its limit`(
        events: [Event], activity: ConnectionPhase.Activity, milliseconds: Int64, verdict: ConnectionPhase.Verdict
    ) {
        let phase = Self.phase(after: events)
        #expect(phase.activity == activity)
        let deadline = Self.start + .milliseconds(milliseconds)
        #expect(phase.verdict(at: deadline - .nanoseconds(1)) == nil)
        #expect(phase.verdict(at: deadline) == verdict)
    }

    @Test(arguments: [[.head, .end], [.head, .end, .head, .end, .answer]] as [[Event]])
    private func `a server that owes an answer has no deadline`(events: [Event]) {
        let phase = Self.phase(after: events)
        #expect(phase.activity == .answering)
        #expect(phase.verdict(at: .distantFuture) == nil)
    }
}

extension ConnectionLimits {
    static func short(connectionsMax: Int = 64, streamsMax: Int = 4) -> ConnectionLimits {
        ConnectionLimits(
            firstByte: .seconds(1), head: .seconds(2), body: .seconds(3), idle: .seconds(4), write: .seconds(5),
            connectionsMax: connectionsMax, streamsMax: streamsMax)
    }

    /// Limits that a test never reaches.
    static func long(connectionsMax: Int = 512, streamsMax: Int = 128) -> ConnectionLimits {
        var limits = ConnectionLimits(
            firstByte: .seconds(600), head: .seconds(600), body: .seconds(600), idle: .seconds(600),
            write: .seconds(600), connectionsMax: connectionsMax, streamsMax: streamsMax)
        limits.streamTime = .seconds(600)
        return limits
    }
}
