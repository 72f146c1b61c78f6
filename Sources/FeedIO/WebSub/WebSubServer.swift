public import Feeds
public import HTTPServing
import NIOCore

/// The address that WebSub hubs call, behind a public one.
public struct WebSubServerSettings: Sendable, CustomStringConvertible {
    /// The address to listen on. A proxy with https stands before it and passes on the path as it is.
    public var host: String
    /// 0 lets the system choose.
    public var port: Int
    /// What hubs know: https, ending in a slash. Only paths under its own are answered.
    public var publicURL: WebAddress

    /// Hubs are servers: they are quick, and a few connections are enough for all of them.
    package var limits = ConnectionLimits(
        firstByte: .seconds(5), head: .seconds(5), body: .seconds(20), idle: .seconds(60), write: .seconds(10),
        connectionsMax: 512, streamsMax: 1)
    package var uploads = Self.standardUploads
    /// Deliveries handed over and not answered yet, and their bytes.
    package var waitingMax = 256
    package var waitingBytesMax = 32 << 20
    /// From a call to the answer that it gets when nobody answers it.
    package var patience = Duration.seconds(10)

    private static var standardUploads: UploadLimits {
        var limits = UploadLimits()
        limits.bytesMax = 32 << 20
        return limits
    }

    /// Bytes of a delivery.
    public static let bodyMax = 3 << 20

    public init(publicURL: WebAddress, host: String = "127.0.0.1", port: Int = 9465) {
        self.publicURL = publicURL
        self.host = host
        self.port = port
    }

    public var description: String { "\(host):\(port)" }
}

/// Takes the calls of hubs, and serves nothing else: it is the one port of this process that strangers may reach.
///
/// Each call is handed over with a number, under which `answer` ends it. A delivery's answer waits only for the decision
/// about its signature, not for what the delivery leads to; when too many wait, hubs are asked to come again.
public final class WebSubServer: Sendable {
    private let settings: WebSubServerSettings
    private let calls: WaitingCalls

    /// - Parameter hand: receives each call, from any thread; must not block.
    public init(_ settings: WebSubServerSettings, hand: @escaping @Sendable (CallbackID, WebSubCall) -> Void) {
        self.settings = settings
        calls = WaitingCalls(countMax: settings.waitingMax, bytesMax: settings.waitingBytesMax, hand: hand)
    }

    /// Serves until `stop()` is called on the server that this returns.
    /// - Returns: once the port is open.
    public func start() async throws(ListenFailure) -> RunningServer {
        let responder = WebSubResponder(
            prefix: settings.publicURL.path, calls: calls, uploads: Uploads(settings.uploads),
            patience: TimeAmount(settings.patience))
        return try await RunningServer.start(
            responder, host: settings.host, port: settings.port, limits: settings.limits)
    }

    /// Ends a call that was handed over; one that has ended already is ignored.
    public func answer(_ id: CallbackID, _ answer: WebSubAnswer) {
        calls.answer(id, answer)
    }
}
