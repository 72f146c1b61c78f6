import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A collector in this process that records requests and answers as the test specifies.
final class Collector: Sendable {
    struct Export: Sendable {
        var path: String
        var headers: HTTPHeaders
        var body: Data
    }

    let port: Int
    let exports: AsyncStream<Export>
    private let arrivals: AsyncStream<Export>.Continuation
    private let channel: any Channel

    /// - Parameter answer: makes the answer to the n-th request, from 1. `nil` leaves the request unanswered.
    init(answer: @escaping @Sendable (Int) -> (status: Int, headers: [(String, String)], body: String)?) async throws {
        let (exports, arrivals) = AsyncStream<Export>.makeStream()
        self.exports = exports
        self.arrivals = arrivals
        let count = Mutex(0)
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { export in
                            arrivals.yield(export)
                            return answer(
                                count.withLock { count in
                                    count += 1
                                    return count
                                })
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    convenience init() async throws {
        try await self.init { _ in (200, [], "{}") }
    }

    var url: String { "http://127.0.0.1:\(port)" }

    /// Closes the server and finishes `exports`.
    func close() async {
        try? await channel.close()
        arrivals.finish()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let take: (Export) -> (status: Int, headers: [(String, String)], body: String)?
        private var export = Export(path: "", headers: [:], body: Data())

        init(_ take: @escaping (Export) -> (status: Int, headers: [(String, String)], body: String)?) {
            self.take = take
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): export = Export(path: head.uri, headers: head.headers, body: Data())
            case .body(let bytes): export.body.append(contentsOf: bytes.readableBytesView)
            case .end:
                guard let answer = take(export) else { return }
                var headers = HTTPHeaders(answer.headers)
                headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.utf8.count)")
                let head = HTTPResponseHead(
                    version: .http1_1, status: .init(statusCode: answer.status), headers: headers)
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }
}
