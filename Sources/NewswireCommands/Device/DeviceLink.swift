import BreakingNews
import HubIO
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NotificationHub
import ServerIdentity

/// Sends requests to a hub, each on a connection of its own, and hands over replies as they arrive.
///
/// It does not use `URLSession`, because on Linux that keeps a processor busy while it waits for a reply.
struct DeviceLink: HubTransport {
    enum Piece: Sendable {
        case opened(status: Int, [HeaderField])
        case bytes([UInt8])
    }

    /// Maximum number of pieces that wait for their reader. Beyond it the reply ends, because a gap in the middle would go
    /// unnoticed. The next request returns what was missed.
    private static let waitingMax = 4096
    /// The longest reply that is read whole, in bytes.
    private static let bodyMax = 64 * 1024 * 1024

    private let tls: NIOSSLContext?

    /// - Parameter roots: the authorities to trust; only for https.
    init(_ endpoint: HubEndpoint, roots: TrustRoots) throws(TrustRootsProblem) {
        tls = endpoint.scheme == .https ? try roots.makeContext() : nil
    }

    /// The longest silence within a reply that is read whole.
    private static let silenceMax = TimeAmount.seconds(10)

    func send(_ request: HubRequest) async throws -> HubResponse {
        var response: HubResponse?
        for try await piece in open(request, silenceMax: Self.silenceMax) {
            switch piece {
            case .opened(let status, let fields): response = HubResponse(status: status, fields: fields)
            case .bytes(let bytes):
                response?.body += bytes
                guard response?.body.count ?? 0 <= Self.bodyMax else {
                    throw HubTransportProblem("the reply is longer than \(Self.bodyMax) bytes")
                }
            }
        }
        guard let response, !Task.isCancelled else { throw CancellationError() }
        return response
    }

    /// The pieces of the reply, until it ends or the task is cancelled.
    /// - Parameter silenceMax: the longest wait for the next piece.
    func open(_ request: HubRequest, silenceMax: TimeAmount) -> AsyncThrowingStream<Piece, any Error> {
        let (stream, pieces) = AsyncThrowingStream<Piece, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(Self.waitingMax))
        let endpoint = request.endpoint
        let connection = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(10))
            .channelInitializer { [tls] channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(ServerIdentity.makeHandler(tls, host: endpoint.host)) }
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandlers([
                        IdleStateHandler(readTimeout: silenceMax), ReplyHandler(pieces, silenceMax),
                    ])
                }
            }
            .connect(host: endpoint.host, port: endpoint.port)
        connection.whenComplete { result in
            switch result {
            case .success(let channel): Self.write(request, to: channel)
            case .failure(let error):
                pieces.finish(throwing: HubTransportProblem(SendFailure(connecting: error).detail))
            }
        }
        pieces.onTermination = { _ in connection.whenSuccess { $0.close(promise: nil) } }
        return stream
    }

    private static func write(_ request: HubRequest, to channel: any Channel) {
        var head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: request.method), uri: request.target)
        head.headers.add(name: "Host", value: request.endpoint.authority)
        head.headers.add(name: "Connection", value: "close")
        for field in request.fields { head.headers.add(name: field.name, value: field.value) }
        if request.method != "GET" { head.headers.add(name: "Content-Length", value: "\(request.body.count)") }
        channel.write(HTTPClientRequestPart.head(head), promise: nil)
        if !request.body.isEmpty {
            channel.write(HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: request.body))), promise: nil)
        }
        channel.writeAndFlush(HTTPClientRequestPart.end(nil), promise: nil)
    }
}

/// Hands over one reply, or the error that prevented it.
private final class ReplyHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    private let pieces: AsyncThrowingStream<DeviceLink.Piece, any Error>.Continuation
    private let silenceMax: TimeAmount

    init(_ pieces: AsyncThrowingStream<DeviceLink.Piece, any Error>.Continuation, _ silenceMax: TimeAmount) {
        self.pieces = pieces
        self.silenceMax = silenceMax
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let fields = head.headers.map { HeaderField($0.name, $0.value) }
            pieces.yield(.opened(status: Int(head.status.code), fields))
        case .body(let bytes):
            if case .dropped = pieces.yield(.bytes(Array(bytes.readableBytesView))) {
                end(context, "it arrived faster than it was read")
            }
        case .end:
            pieces.finish()
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) { end(context, "the connection was closed") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case NIOSSLError.handshakeFailed = error { return end(context, SendFailure(connecting: error).detail) }
        end(context, SendFailure(replying: error).detail)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else { return context.fireUserInboundEventTriggered(event) }
        end(context, "no reply in \(silenceMax.nanoseconds / 1_000_000_000) s")
    }

    private func end(_ context: ChannelHandlerContext, _ reason: String) {
        pieces.finish(throwing: HubTransportProblem(reason))
        context.close(promise: nil)
    }
}
