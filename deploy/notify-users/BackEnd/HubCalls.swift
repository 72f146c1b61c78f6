import BreakingNews
import Foundation
import NotificationHub

/// A back end's calls to the hub, with a key of all rights. Apps must never receive this key.
struct HubCalls: Sendable {
    /// An unexpected answer of the hub.
    struct Refusal: Error {
        /// The status; `nil` if there was no answer.
        var status: Int?
    }

    let connection: ConnectionString
    let hub: HubName
    let transport: any HubTransport

    private static let tokenLasts: Int64 = 300

    /// The ids of a device's registrations on the hub's first page, except those that an installation manages.
    func registrations(of handle: String) async throws -> [String] {
        // The hub uses this name for the handle on every platform.
        let target = path.registrations(of: .windows(channelURI: handle))
        return RegistrationFeed(parsing: try await call("GET", target).body).items
            .filter { $0.installation == nil }.map(\.id)
    }

    func newID() async throws -> String {
        let reply = try await call("POST", path.newID)
        let location = reply.fields.first { $0.name.lowercased() == "location" }
        guard let id = location.flatMap({ HubPath.id(inLocation: $0.value) }) else {
            throw Refusal(status: reply.status)
        }
        return id
    }

    func put(_ entry: RegistrationEntry, id: String) async throws {
        let fields = [HeaderField("Content-Type", RegistrationEntry.contentType)]
        _ = try await call("PUT", path.registration(id), fields, entry.bytes)
    }

    /// A registration that no longer exists counts as deleted.
    func delete(id: String) async throws {
        do { _ = try await call("DELETE", path.registration(id), [HeaderField("If-Match", "*")]) } catch let refusal
            as Refusal
        {
            guard refusal.status == 404 || refusal.status == 410 else { throw refusal }
        }
    }

    func send(_ request: SendRequest) async throws {
        let fields =
            [
                HeaderField("Content-Type", request.format.contentType),
                HeaderField("ServiceBusNotification-Format", request.format.rawValue),
                HeaderField("ServiceBusNotification-Tags", request.tags),
            ] + request.fields
        _ = try await call("POST", path.send, fields, request.body)
    }

    private var path: HubPath { HubPath(endpoint: connection.endpoint, hub: hub) }

    /// - Throws: `Refusal` unless the answer's status is a success.
    private func call(
        _ method: String, _ target: String, _ fields: [HeaderField] = [], _ body: [UInt8] = []
    ) async throws -> HubResponse {
        let token = SharedAccessSignature.token(
            resource: connection.endpoint.audience, keyName: connection.keyName, key: connection.key,
            expiresAt: Int64(Date().timeIntervalSince1970) + Self.tokenLasts)
        let request = HubRequest(
            method: method, endpoint: connection.endpoint, target: target,
            fields: fields + [HeaderField("Authorization", token)], body: body)
        let reply: HubResponse
        do { reply = try await transport.send(request) } catch { throw Refusal(status: nil) }
        guard (200...299).contains(reply.status) else { throw Refusal(status: reply.status) }
        return reply
    }
}
