import Foundation

/// A listening socket of this process that a library does not expose.
struct ListeningSocket {
    private let descriptor: Int32

    /// - Returns: `nil` if this process does not listen on the port over IPv4.
    init?(port: UInt16) {
        let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        let listener = descriptors.lazy.compactMap { Int32($0) }.first {
            Self.port(of: $0) == port && Self.option(SO_ACCEPTCONN, at: SOL_SOCKET, of: $0) == 1
        }
        guard let listener else { return nil }
        descriptor = listener
    }

    /// Disables Nagle's algorithm for connections accepted from now on, which inherit the option on Linux.
    func disableNagle() {
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout.size(ofValue: on)))
    }

    private static func port(of descriptor: Int32) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout.size(ofValue: address))
        let error = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return error == 0 && address.sin_family == AF_INET ? UInt16(bigEndian: address.sin_port) : nil
    }

    private static func option(_ name: Int32, at level: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout.size(ofValue: value))
        return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : nil
    }
}
