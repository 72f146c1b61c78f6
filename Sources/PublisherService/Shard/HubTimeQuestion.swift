import HubIO
import HubModel
import NIOCore
import NIOSSL
import NewsModel
import NotificationHub
import PublishEngine

/// Asks the hub for its time, which any reply contains. The request needs no key and sends no notification.
///
/// Confined to one event loop.
final class HubTimeQuestion {
    private let eventLoop: any EventLoop
    private let endpoint: HubEndpoint
    private var tls: NIOSSLContext?
    /// `nil` if no question is in flight.
    private var connection: HubQuestions?
    private var askedAt = Instant.distantPast
    /// The pause between questions while the hub has told no time.
    private static let pause = Duration.seconds(10)

    init(_ eventLoop: any EventLoop, _ endpoint: HubEndpoint, tls: NIOSSLContext?) {
        self.eventLoop = eventLoop
        self.endpoint = endpoint
        self.tls = tls
    }

    func renew(_ tls: NIOSSLContext?) { self.tls = tls }

    func isDue(at now: Instant) -> Bool { askedAt + Self.pause < now }

    /// Asks unless a question is in flight.
    ///
    /// - Parameter onAnswer: receives the hub's time; `nil` if it did not answer.
    func ask(at now: Instant, onAnswer: @escaping (Instant?) -> Void) {
        guard connection == nil else { return }
        askedAt = now
        var limits = SenderLimits(connections: 1)
        limits.connectTimeout = Engine.timeInquiryLasts
        limits.requestTimeout = Engine.timeInquiryLasts
        let connection = HubQuestions(eventLoop: eventLoop, endpoint: endpoint, limits: limits, tls: tls)
        self.connection = connection
        connection.ask("/") { [weak self] result in
            guard let self else { return }
            close()
            onAnswer((try? result.get())?.date)
        }
    }

    func close() {
        connection?.close()
        connection = nil
    }
}
