import Foundation
import HubIO
import HubModel
import KafkaIO
import NIOCore
import NIOPosix
import NewsModel
import NewswireSettings
import NotificationHub

/// Sends single requests to the hub, without a publisher, each over a connection of its own.
struct SingleSend: Sendable {
    var connection: ConnectionString
    var hub: HubName
    var limits: SenderLimits
    var trustRoots: TrustRoots

    init(_ settings: Settings) throws {
        connection = try settings.connection()
        hub = try settings.hub()
        limits = settings.sender
        limits.connections = 1
        trustRoots = settings.trustRoots
    }

    /// - Throws: only if the trusted certificates cannot be read.
    func send(_ request: SendRequest) async throws -> SendResult { try await exchange(request).result }

    /// - Returns: the result, and the version of HTTP that the hub chose, e.g. `HTTP/2`; `nil` without a connection.
    /// - Throws: only if the trusted certificates cannot be read.
    func exchange(_ request: SendRequest) async throws -> (result: SendResult, http: String?) {
        let tls: HubTLS?
        do {
            let isSecure = connection.endpoint.scheme == .https
            tls = isSecure ? try trustRoots.makeHubTLS(offersHTTP2: limits.offersHTTP2) : nil
        } catch {
            throw CommandFailure("hub.trustRoots: \(error)", isConfiguration: true)
        }
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let result = await result(of: request, tls: tls, on: group.next())
        try? await group.shutdownGracefully()
        return result
    }

    private func result(of request: SendRequest, tls: HubTLS?, on loop: any EventLoop) async
        -> (result: SendResult, http: String?)
    {
        await withCheckedContinuation { continuation in
            loop.execute {
                let holder = PoolHolder()
                let pool = SenderPool(
                    eventLoop: loop, target: SendTarget(endpoint: connection.endpoint, hub: hub), limits: limits,
                    tls: tls
                ) { results in
                    guard let result = results.first?.result else { return }
                    let http = holder.pool?.http?.rawValue
                    holder.pool?.close { continuation.resume(returning: (result, http)) }
                    holder.pool = nil
                }
                holder.pool = pool
                pool.authorization = authorization
                pool.send([PoolRequest(id: RequestID(rawValue: 0), request: .send(request))])
            }
        }
    }

    private var authorization: String {
        var token = AccessToken(connection)
        return token.headerValue(at: ServiceClock.wall.milliseconds / 1000)
    }

    /// The request as it is sent, with the signature masked.
    ///
    /// - Parameter isSigned: false for a text without the signature and its time.
    func text(of request: SendRequest, isSigned: Bool = true) -> String {
        let path = HubPath(endpoint: connection.endpoint, hub: hub).send
        var fields = [("Host", connection.endpoint.authority), ("User-Agent", "newswire")]
        if isSigned { fields.append(("Authorization", Self.masked(authorization))) }
        fields += [
            ("Content-Type", request.format.contentType), ("ServiceBusNotification-Format", request.format.rawValue),
            ("ServiceBusNotification-Tags", request.tags),
        ]
        fields += request.fields.map { ($0.name, $0.value) }
        fields.append(("Content-Length", String(request.body.count)))
        let head = ["POST \(path) HTTP/1.1"] + fields.map { "\($0): \($1)" }
        return head.joined(separator: "\n") + "\n\n" + String(decoding: request.body, as: UTF8.self)
    }

    private static func masked(_ authorization: String) -> String {
        authorization.split(separator: "&", omittingEmptySubsequences: false)
            .map { $0.hasPrefix("sig=") ? "sig=\(Secret.mask)" : String($0) }
            .joined(separator: "&")
    }
}

/// Keeps the pool alive until it has a result. Used only on the pool's event loop.
private final class PoolHolder {
    var pool: SenderPool?
}

/// The result of a request, explained to the person who sent it.
struct SendVerdict: Sendable, Hashable {
    var isAccepted: Bool
    /// The status of the hub's reply; `nil` without a reply.
    var status: Int?
    var notificationID: String?
    var message: String
    var remedy: String

    init(_ result: SendResult) {
        switch result {
        case .replied(let reply): self.init(reply)
        case .notSent(let failure):
            self.init(isAccepted: false, message: "not sent: \(failure)", remedy: Self.remedy(failure))
        case .unknown(let failure):
            self.init(
                isAccepted: false, message: "sent, but not answered: \(failure)",
                remedy: "the hub may have accepted it; check before sending again")
        }
    }

    /// The result as one line of JSON for programs.
    func line(_ eventID: String, _ platform: Platform) -> String {
        JSONLine.object { json in
            json.field("eventId", eventID)
            json.field("platform", platform.rawValue)
            json.field("accepted", isAccepted)
            if let status { json.field("httpStatus", status) }
            json.field("notificationId", notificationID)
            json.field("message", message)
            if !remedy.isEmpty { json.field("remedy", remedy) }
        }
    }

    private init(isAccepted: Bool, status: Int? = nil, message: String, remedy: String) {
        self.isAccepted = isAccepted
        self.status = status
        self.message = message
        self.remedy = remedy
    }

    private init(_ reply: HubReply) {
        let detail = reply.explanation.map { ": \($0)" } ?? ""
        let (message, remedy): (String, String) =
            switch reply.meaning {
            case .accepted: ("accepted", "")
            case .refusedEvent:
                ("the hub refuses this notification\(detail)", "correct it; the same request will be refused again")
            case .tokenRefused:
                ("the hub does not accept the key\(detail)", "copy hub.connectionString again, and check the clock")
            case .forbidden:
                (
                    "the key has no right to send\(detail)",
                    "use a connection string with the Send right; check the hub's quota"
                )
            case .missingHub:
                ("there is no hub with this name\(detail)", "check hub.name and the Endpoint of hub.connectionString")
            case .busy: ("the hub is busy\(detail)", "try again later, or lower rate.perSecond")
            // Only a missing reply has the last four meanings.
            case .unknownAcceptance, .invalid, .certificate, .unreachable, .connectionLost:
                ("the hub answers \(reply.status)\(detail)", "the hub may have accepted it; check before sending again")
            }
        self.init(isAccepted: reply.meaning == .accepted, status: reply.status, message: message, remedy: remedy)
        notificationID = reply.notificationID
    }

    private static func remedy(_ failure: SendFailure) -> String {
        switch failure.kind {
        case .connectRefused, .connectFailed, .connectTimeout:
            "check the Endpoint of hub.connectionString, the network and the firewall"
        case .dns: "check the host name in the Endpoint of hub.connectionString"
        case .tls: "check that the certificate is for this host, and hub.trustRoots"
        default: "try again"
        }
    }
}
