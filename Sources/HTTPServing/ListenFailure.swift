import Foundation
import NIOCore

/// The reason why a port could not be opened.
public struct ListenFailure: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Cause: Sendable, Hashable {
        case inUse
        /// The address belongs to no interface of this machine.
        case notThisMachine
        /// The host is neither an address nor a name that resolves to one.
        case unknownHost
        case notPermitted
        case other(String)
    }

    public let host: String
    public let port: Int
    public let cause: Cause

    init(host: String, port: Int, cause: Cause) {
        self.host = host
        self.port = port
        self.cause = cause
    }

    init(host: String, port: Int, _ error: any Error) {
        let cause: Cause =
            switch error {
            case is SocketAddressError.UnknownHost: .unknownHost
            case let error as IOError:
                switch error.errnoCode {
                case EADDRINUSE: .inUse
                case EADDRNOTAVAIL: .notThisMachine
                case EACCES, EPERM: .notPermitted
                default: .other(String(cString: strerror(error.errnoCode)))
                }
            default: .other("\(error)")
            }
        self.init(host: host, port: port, cause: cause)
    }

    private var address: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    public var description: String {
        switch cause {
        case .inUse: "\(address) is in use by another process"
        case .notThisMachine: "cannot listen on \(address): this machine does not have the address"
        case .unknownHost: "cannot listen on \(address): there is no such host"
        case .notPermitted: "cannot listen on \(address): this user may not open port \(port)"
        case .other(let reason): "cannot listen on \(address): \(reason)"
        }
    }

    /// An instruction that is valid wherever the address was configured.
    public var remedy: String {
        switch cause {
        case .inUse: "stop that process, or choose another port"
        case .notThisMachine: "use 127.0.0.1, 0.0.0.0 for all addresses, or one of this machine's own"
        case .unknownHost: "use an address of this machine, or a name that resolves to one"
        case .notPermitted: "choose a port from 1024 up, or grant CAP_NET_BIND_SERVICE"
        case .other: "choose another address"
        }
    }
}

extension ListenFailure {
    /// Opens the port and closes it again. Blocks while a host name is resolved.
    /// - Returns: `nil` if it could be opened.
    package static func trying(host: String, port: Int) -> ListenFailure? {
        do {
            let address = try SocketAddress.makeAddressResolvingHost(host, port: port)
            try address.withSockAddr { pointer, size in
                #if canImport(Glibc)
                let kind = Int32(SOCK_STREAM.rawValue)
                #else
                let kind = SOCK_STREAM
                #endif
                let descriptor = socket(Int32(pointer.pointee.sa_family), kind, 0)
                guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
                defer { close(descriptor) }
                var isReused: Int32 = 1
                _ = setsockopt(
                    descriptor, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout.size(ofValue: isReused)))
                guard bind(descriptor, pointer, socklen_t(size)) == 0, listen(descriptor, 1) == 0 else {
                    throw IOError(errnoCode: errno, reason: "bind")
                }
            }
            return nil
        } catch {
            return ListenFailure(host: host, port: port, error)
        }
    }
}
