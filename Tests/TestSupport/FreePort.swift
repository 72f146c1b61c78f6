import NIOCore
import NIOPosix
import Synchronization

/// Ports for servers that start late or twice. The kernel takes the port of a listener on port 0, or of a client, from a
/// range of its own, so another test could get such a server's port while it is down. These ports are below that range
/// (32,768 and more on Linux, 16,000 and more in gVisor).
package enum FreePort {
    private static let range = 10_000..<15_000
    private static let last = Mutex(Int.random(in: range))

    /// A port of 127.0.0.1 on which nobody listens. Each call returns another one.
    package static func next() async throws -> Int {
        for _ in range {
            let port = last.withLock { last in
                last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
                return last
            }
            let server = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            guard let listener = try? await server.bind(host: "127.0.0.1", port: port).get() else { continue }
            try await listener.close()
            return port
        }
        throw NoPort()
    }

    private struct NoPort: Error {}
}
