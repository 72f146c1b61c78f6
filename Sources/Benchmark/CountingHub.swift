import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The fastest possible hub. It answers 201 to every request, after an optional delay, and records each arrival.
final class CountingHub: Sendable {
    let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let arrivals = Mutex(Arrivals())

    private struct Arrivals {
        var times: [NIODeadline] = []
        /// The arrival of the first request about each event.
        var byEvent: [Int: NIODeadline] = [:]
    }

    init(certificate: (chain: String, key: String)? = nil, delay: TimeAmount = .zero) throws {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let tls = try certificate.map { certificate in
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificate.chain.utf8)).map {
                        .certificate($0)
                    },
                    privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(certificate.key.utf8), format: .pem))))
        }
        let note = Note()
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4_096)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
                    try channel.pipeline.syncOperations.addHandler(Answering(delay: delay, note: note.call))
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        port = channel.localAddress?.port ?? 0
        note.hub = self
    }

    /// The arrival of each request, in order.
    func times() -> [NIODeadline] { arrivals.withLock { $0.times } }

    func firstArrivals() -> [Int: NIODeadline] { arrivals.withLock { $0.byEvent } }

    func close() throws { try group.syncShutdownGracefully() }

    fileprivate func arrived(_ event: Int?, at now: NIODeadline) {
        arrivals.withLock { arrivals in
            arrivals.times.append(now)
            if let event, arrivals.byEvent[event] == nil { arrivals.byEvent[event] = now }
        }
    }

    /// Forwards arrivals to the hub, which is set after the handlers were made.
    private final class Note: @unchecked Sendable {
        weak var hub: CountingHub?

        func call(_ event: Int?, _ now: NIODeadline) { hub?.arrived(event, at: now) }
    }
}

/// One connection: reads requests that have a `Content-Length`, one after the other.
private final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let delay: TimeAmount
    private let note: @Sendable (Int?, NIODeadline) -> Void
    private var bytes = ByteBuffer()
    private static let reply = ByteBuffer(
        string: "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nTrackingId: benchmark\r\n"
            + "Location: http://127.0.0.1/news/messages/NH-1-2-3?api-version=2015-04\r\n\r\n")

    init(delay: TimeAmount, note: @escaping @Sendable (Int?, NIODeadline) -> Void) {
        self.delay = delay
        self.note = note
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var read = unwrapInboundIn(data)
        bytes.writeBuffer(&read)
        while let request = nextRequest() {
            note(News.number(in: request), .now())
            if delay == .zero {
                context.writeAndFlush(wrapOutboundOut(Self.reply), promise: nil)
            } else {
                let context = NIOLoopBound(context, eventLoop: context.eventLoop)
                context.value.eventLoop.scheduleTask(in: delay) {
                    context.value.writeAndFlush(NIOAny(Self.reply), promise: nil)
                }
            }
        }
        if bytes.readableBytes == 0 { bytes.clear() }
    }

    /// Removes the bytes of the next whole request and returns them.
    private func nextRequest() -> ByteBuffer? {
        guard let body = bytes.position(after: "\r\n\r\n"), let field = bytes.position(after: "Content-Length: ")
        else { return nil }
        let digits = bytes.readableBytesView.dropFirst(field).prefix { $0 != 0x0D }
        return bytes.readSlice(length: body + digits.reduce(0) { $0 * 10 + Int($1) - 0x30 })
    }
}

extension ByteBuffer {
    /// The index after the first `mark`, counted from the first readable byte.
    func position(after mark: StaticString) -> Int? {
        let mark = UnsafeBufferPointer(start: mark.utf8Start, count: mark.utf8CodeUnitCount)
        return withUnsafeReadableBytes { bytes in
            var start = 0
            while start + mark.count <= bytes.count {
                var matching = 0
                while matching < mark.count, bytes[start + matching] == mark[matching] { matching += 1 }
                if matching == mark.count { return start + matching }
                start += 1
            }
            return nil
        }
    }
}
