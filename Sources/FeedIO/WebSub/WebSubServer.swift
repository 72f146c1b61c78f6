public import Feeds
public import HTTPServing
import NIOCore

/// The local address of the server that WebSub hubs call through a public one.
public struct WebSubServerSettings: Sendable, CustomStringConvertible {
    /// The address to listen on. An https proxy in front of it passes the path on unchanged.
    public var host: String
    /// 0 lets the system choose a port.
    public var port: Int
    /// The https address that hubs call, ending in a slash. Only paths under its path are answered.
    public var publicURL: WebAddress

    /// Hubs are servers, so they are fast, and a few connections are enough for all of them.
    package var limits = ConnectionLimits(
        firstByte: .seconds(5), head: .seconds(5), body: .seconds(20), idle: .seconds(60), write: .seconds(10),
        connectionsMax: 512, streamsMax: 1)
    package var uploads = Self.standardUploads
    /// Maximum number of deliveries that are handed over and not answered, and of their bytes.
    package var waitingMax = 256
    package var waitingBytesMax = 32 << 20
    /// Time after which an unanswered call gets 503.
    package var patience = Duration.seconds(10)

    private static var standardUploads: UploadLimits {
        var limits = UploadLimits()
        limits.bytesMax = 32 << 20
        return limits
    }

    /// Maximum bytes of a delivery.
    public static let bodyMax = 3 << 20

    public init(publicURL: WebAddress, host: String = "127.0.0.1", port: Int = 9465) {
        self.publicURL = publicURL
        self.host = host
        self.port = port
    }

    public var description: String { "\(host):\(port)" }
}

/// Receives hubs' calls and serves nothing else, because this is the only port of the process that strangers may reach.
///
/// Each call is handed over with a number, under which `answer` ends it. The answer to a delivery waits only for the
/// check of its signature, not for the effects of the delivery. If too many calls wait, hubs are asked to retry.
public final class WebSubServer: Sendable {
    private let settings: WebSubServerSettings
    private let calls: WaitingCalls

    /// - Parameter hand: receives each call, from any thread; must not block.
    public init(_ settings: WebSubServerSettings, hand: @escaping @Sendable (CallbackID, WebSubCall) -> Void) {
        self.settings = settings
        calls = WaitingCalls(countMax: settings.waitingMax, bytesMax: settings.waitingBytesMax, hand: hand)
    }

    /// Serves until `stop()` is called on the returned server.
    /// - Returns: the server, once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        let responder = WebSubResponder(
            prefix: settings.publicURL.path, calls: calls, uploads: Uploads(settings.uploads),
            patience: TimeAmount(settings.patience))
        return try await RunningServer.start(
            responder, host: settings.host, port: settings.port, limits: settings.limits)
    }

    /// Ends a call that was handed over. Ignores a call that has ended already.
    public func answer(_ id: CallbackID, _ answer: WebSubAnswer) { calls.answer(id, answer) }
}
