public import BreakingNews
import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore
public import NotificationHub

/// The back end of the tutorial "notify users". It registers devices for their users, because an app with its own key
/// could register for any user.
///
/// An example to start from, not a service to run: its authentication is a placeholder (`Caller`).
public struct BackEnd: Sendable {
    private let calls: HubCalls
    private let users: UserTags?

    /// The longest body of a request, in bytes: a device's registration or a message.
    private static let bodyMax = 64 * 1024

    /// - Parameters:
    ///   - connection: the connection string of a key with all rights.
    ///   - secret: the `users.secret` of Newswire with `users.tag: plain`, whose events with `users` then reach these
    ///     devices.
    public init(
        _ connection: ConnectionString, hub: HubName, secret: AccessKey? = nil,
        transport: any HubTransport = SessionTransport()
    ) {
        calls = HubCalls(connection: connection, hub: hub, transport: transport)
        users = secret.map { UserTags.signed(with: $0) }
    }

    public var router: Router<BasicRequestContext> {
        let router = Router()
        router.post("/api/register") { request, _ in try await reserve(request) }
        router.put("/api/register/{id}") { request, context in
            try await register(request, id: try context.parameters.require("id"))
        }
        router.delete("/api/register/{id}") { request, context in
            try await unregister(request, id: try context.parameters.require("id"))
        }
        router.post("/api/notifications") { request, _ in try await notify(request) }
        return router
    }

    /// `POST /api/register?handle=…`: the id to register the device with. A device with several ids keeps one.
    private func reserve(_ request: Request) async throws -> Response {
        _ = try caller(of: request)
        let handle = request.uri.queryParameters["handle"].map(String.init) ?? ""
        guard handle.utf8.count <= PushChannel.handleLengthMax else {
            throw HTTPError(.badRequest, message: "handle has more than \(PushChannel.handleLengthMax) bytes")
        }
        let id = try await asking {
            let known = handle.isEmpty ? [] : try await calls.registrations(of: handle)
            for surplus in known.dropFirst() { try await calls.delete(id: surplus) }
            if let id = known.first { return id }
            return try await calls.newID()
        }
        // The answer is JSON, as the tutorial's apps expect. An id needs no escapes.
        return Response(
            status: .ok, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: "\"\(id)\"")))
    }

    /// `PUT /api/register/{id}`: registers the device for its user. After a 410, for an id that the hub has dropped,
    /// the app drops it and starts again.
    private func register(_ request: Request, id: String) async throws -> Response {
        let caller = try caller(of: request)
        let body = try await request.body.collect(upTo: Self.bodyMax)
        guard let device = try? JSONDecoder().decode(DeviceRegistration.self, from: Data(body.readableBytesView)),
            let channel = device.channel, let own = device.ownTags, let name = Caller.tag(of: caller.name)
        else {
            throw HTTPError(
                .badRequest,
                message: "the body must be an object with Platform (apns, fcm or wns), Handle and at most 58 Tags")
        }
        var tags = own + [name]
        if let users { tags.append(try users.tag(of: caller.name)) }
        let entry = RegistrationEntry(channel: channel, tags: tags)
        try await asking { try await calls.put(entry, id: id) }
        return Response(status: .ok)
    }

    /// Handles `DELETE /api/register/{id}`.
    private func unregister(_ request: Request, id: String) async throws -> Response {
        _ = try caller(of: request)
        try await asking { try await calls.delete(id: id) }
        return Response(status: .ok)
    }

    /// `POST /api/notifications?pns=apns&to_tag=anna` with a JSON string: sends a message to the devices of a user.
    private func notify(_ request: Request) async throws -> Response {
        let caller = try caller(of: request)
        let query = request.uri.queryParameters
        let body = try await request.body.collect(upTo: Self.bodyMax)
        let message = try? JSONDecoder().decode(String.self, from: Data(body.readableBytesView))
        guard let message, let pns = query["pns"], let tag = query["to_tag"].flatMap({ Caller.tag(of: String($0)) }),
            let send = try UserMessage.request("From \(caller.name): \(message)", on: String(pns), to: tag)
        else {
            throw HTTPError(
                .badRequest, message: "pns must be apns, fcm or wns, to_tag a user, and the body a JSON string")
        }
        try await asking { try await calls.send(send) }
        return Response(status: .ok)
    }

    private func caller(of request: Request) throws -> Caller {
        guard let caller = Caller(authorization: request.headers[.authorization]) else {
            throw HTTPError(.unauthorized, headers: [.wwwAuthenticate: "Basic"])
        }
        return caller
    }

    /// Passes the hub's 410 and 400 to the app. Other errors of the hub are not the app's fault.
    private func asking<Answer: Sendable>(_ call: () async throws -> Answer) async throws -> Answer {
        do { return try await call() } catch let refusal as HubCalls.Refusal {
            switch refusal.status {
            case 410: throw HTTPError(.gone)
            case 400: throw HTTPError(.badRequest, message: "the hub refuses it")
            default:
                throw HTTPError(
                    .badGateway, message: refusal.status.map { "the hub answers \($0)" } ?? "the hub does not answer")
            }
        }
    }
}
