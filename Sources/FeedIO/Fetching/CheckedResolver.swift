internal import Feeds
public import NIOCore
internal import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Returns the addresses of a name, best first. May block.
public typealias LookUp = @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress]

/// Passes on only addresses that are allowed. The connection uses exactly these addresses without another lookup. A
/// name server therefore cannot give one answer to the check and another to the connection.
final class CheckedResolver: Resolver, Sendable {
    private let rules: AddressRules
    private let lookUp: LookUp
    private let threads: NIOThreadPool
    private let loop: any EventLoop
    private let v4: EventLoopPromise<[SocketAddress]>
    private let v6: EventLoopPromise<[SocketAddress]>

    /// Each instance serves one lookup.
    init(rules: AddressRules, lookUp: @escaping LookUp, threads: NIOThreadPool, loop: any EventLoop) {
        self.rules = rules
        self.lookUp = lookUp
        self.threads = threads
        self.loop = loop
        v4 = loop.makePromise()
        v6 = loop.makePromise()
    }

    /// NIO calls this query first; one lookup answers both queries.
    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        if let literal = try? SocketAddress(ipAddress: host, port: port) {
            // Answered later, because NIO expects both queries to be made before either is answered.
            loop.execute { self.answer(.success([literal]), host) }
        } else {
            threads.runIfActive(eventLoop: loop) { [lookUp] in try lookUp(host, port) }
                .whenComplete { self.answer($0, host) }
        }
        return v6.futureResult
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { v4.futureResult }

    func cancelQueries() {}

    private func answer(_ result: Result<[SocketAddress], any Error>, _ host: String) {
        let allowed = Result { try checked(result.get(), host) }
        v6.completeWith(allowed.map { addresses in addresses.filter { $0.protocol == .inet6 } })
        v4.completeWith(allowed.map { addresses in addresses.filter { $0.protocol == .inet } })
    }

    /// - Throws: the refusal, if no address is allowed.
    func checked(_ addresses: [SocketAddress], _ host: String) throws(FetchFailure) -> [SocketAddress] {
        var allowed: [SocketAddress] = []
        var refusal: FetchFailure?
        for address in addresses {
            guard let ip = IPAddress(address) else { continue }
            if let reason = rules.refusal(of: ip, for: host) { refusal = reason } else { allowed.append(address) }
        }
        guard !allowed.isEmpty else {
            throw refusal ?? FetchFailure(.unknownHost, "\(host) has no address; check the name in url")
        }
        return allowed
    }
}

extension IPAddress {
    init?(_ address: SocketAddress) {
        // The address has the same offset on all systems: after family and port, for IPv6 also after the flow.
        switch address {
        case .v4(let v4): self.init(bytes: withUnsafeBytes(of: v4.address) { Array($0.dropFirst(4).prefix(4)) })
        case .v6(let v6): self.init(bytes: withUnsafeBytes(of: v6.address) { Array($0.dropFirst(8).prefix(16)) })
        case .unixDomainSocket: return nil
        }
    }
}

#if canImport(Glibc)
private let streamSocket = Int32(SOCK_STREAM.rawValue)
#else
private let streamSocket = SOCK_STREAM
#endif

/// Asks the system, which sorts by RFC 6724.
public let systemLookUp: LookUp = { host, port in
    var first: UnsafeMutablePointer<addrinfo>?
    // Without hints, each address is returned once for every kind of socket.
    let problem = getaddrinfo(host, "\(port)", nil, &first)
    guard problem == 0 else {
        throw FetchFailure(.unknownHost, "\(host) cannot be found: \(String(cString: gai_strerror(problem)))")
    }
    defer { freeaddrinfo(first) }
    return sequence(first: first, next: { $0?.pointee.ai_next }).prefix(192).compactMap { entry in
        guard let entry = entry?.pointee, entry.ai_socktype == streamSocket,
            let address = UnsafeRawPointer(entry.ai_addr)
        else { return nil }
        return switch NIOBSDSocket.AddressFamily(rawValue: entry.ai_family) {
        case .inet: SocketAddress(address.loadUnaligned(as: sockaddr_in.self), host: host)
        case .inet6: SocketAddress(address.loadUnaligned(as: sockaddr_in6.self), host: host)
        default: nil
        }
    }
}
