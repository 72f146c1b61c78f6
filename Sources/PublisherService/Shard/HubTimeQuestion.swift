import HubIO
import HubModel
import NIOCore
import NewsModel
import NotificationHub
import PublishEngine

/// Asks the hub for its time, which any reply contains. The request needs no key and sends no notification.
///
/// Confined to one event loop.
final class HubTimeQuestion {
    private let eventLoop: any EventLoop
    private let target: SendTarget
    private var tls: HubTLS?
    /// `nil` if no question is in flight.
    private var pool: SenderPool?
    private var askedAt = Instant.distantPast
    /// The pause between questions while the hub has told no time.
    private static let pause = Duration.seconds(10)

    init(_ eventLoop: any EventLoop, _ target: SendTarget, tls: HubTLS?) {
        self.eventLoop = eventLoop
        self.target = target
        self.tls = tls
    }

    func renew(_ tls: HubTLS?) { self.tls = tls }

    func isDue(at now: Instant) -> Bool { askedAt + Self.pause < now }

    /// Asks unless a question is in flight.
    ///
    /// - Parameter onAnswer: receives the hub's time; `nil` if its answer has none. Not called if the hub does not answer.
    func ask(at now: Instant, onAnswer: @escaping (Instant?) -> Void) {
        guard pool == nil else { return }
        askedAt = now
        var limits = SenderLimits(connections: 1)
        limits.connectTimeout = Engine.timeInquiryLasts
        limits.requestTimeout = Engine.timeInquiryLasts
        let pool = SenderPool(eventLoop: eventLoop, target: target, limits: limits, tls: tls) { [weak self] results in
            guard let self, let date = self.pool.map(\.hubDate) else { return }
            close()
            // An error without a time may come from a proxy, while the hub is away.
            let isHub = results.contains { $0.result.reply.map { $0.status < 500 } ?? false }
            if date != nil || isHub { onAnswer(date) }
        }
        self.pool = pool
        pool.send([PoolRequest(id: RequestID(rawValue: 0), request: .question(target: "/"))])
    }

    func close() {
        pool?.close()
        pool = nil
    }
}
