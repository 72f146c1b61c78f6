import NIOCore
import NIOPosix

/// One request on a connection of its own, its bytes written by hand.
enum RawClient {
    struct Reply: Sendable {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }

        /// `nil` for bytes that are no whole reply to a `Connection: close` request.
        init?(_ bytes: [UInt8]) {
            let end = Array("\r\n\r\n".utf8)
            guard let split = (0...max(0, bytes.count - 4)).first(where: { bytes[$0...].starts(with: end) }) else {
                return nil
            }
            let lines = String(decoding: bytes[..<split], as: UTF8.self).split(separator: "\r\n")
            guard let first = lines.first, let status = Int(first.split(separator: " ").dropFirst().first ?? "") else {
                return nil
            }
            self.status = status
            headers = [:]
            for line in lines.dropFirst() {
                let sides = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                headers[sides[0].lowercased()] = sides.count > 1 ? String(sides[1].drop { $0 == " " }) : ""
            }
            body = Array(bytes[(split + 4)...])
        }
    }

    static func call(
        _ port: Int, _ method: String, _ target: String, host: String = "127.0.0.1", headers: [(String, String)] = [],
        body: String = ""
    ) async throws -> Reply? {
        var head = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || method != "GET" { head += "Content-Length: \(body.utf8.count)\r\n" }
        return Reply(try await exchange(port, Array((head + "\r\n" + body).utf8)))
    }

    /// Everything the server sends until it closes. A reset ends it with what came before.
    static func exchange(_ port: Int, _ bytes: [UInt8]) async throws -> [UInt8] {
        let connection = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await connection.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(bytes: bytes))
            var received: [UInt8] = []
            do {
                for try await buffer in inbound { received += buffer.readableBytesView }
            } catch is IOError {
            }
            return received
        }
    }
}
