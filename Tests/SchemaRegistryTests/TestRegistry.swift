import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A schema registry in this process that answers as the test specifies, and counts its requests.
final class TestRegistry: Sendable {
    struct Answer: Sendable {
        var status = 200
        var body: String

        /// The registry's own error for an absent schema.
        static let unknown = Answer(status: 404, body: #"{"error_code": 40403, "message": "Schema not found"}"#)

        static func schema(_ text: String, type: String? = nil, references: String = "[]") -> Answer {
            let quoted = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: " ")
            let type = type.map { #""schemaType": "\#($0)", "# } ?? ""
            return Answer(body: #"{\#(type)"schema": "\#(quoted)", "references": \#(references)}"#)
        }
    }

    let port: Int
    private let channel: any Channel
    private let seen: Seen

    /// The requests, as `path authorization`.
    private final class Seen: Sendable {
        let requests = Mutex<[String]>([])
    }

    var url: String { "http://127.0.0.1:\(port)/" }
    var requests: [String] { seen.requests.withLock { $0 } }

    /// - Parameter answer: the answer to a path.
    init(port: Int = 0, answer: @escaping @Sendable (String) -> Answer) async throws {
        let seen = Seen()
        self.seen = seen
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { head in
                            let authorization = head.headers.first(name: "Authorization") ?? "-"
                            seen.requests.withLock { $0.append("\(head.uri) \(authorization)") }
                            return answer(head.uri)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        self.port = channel.localAddress?.port ?? 0
    }

    func close() async { try? await channel.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: (HTTPRequestHead) -> Answer
        private var head: HTTPRequestHead?

        init(answer: @escaping (HTTPRequestHead) -> Answer) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): self.head = head
            case .body: break
            case .end:
                guard let head else { return }
                let answer = answer(head)
                let body = ByteBuffer(string: answer.body)
                var response = HTTPResponseHead(
                    version: .http1_1, status: HTTPResponseStatus(statusCode: answer.status))
                response.headers.add(name: "Content-Length", value: "\(body.readableBytes)")
                context.write(wrapOutboundOut(.head(response)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
