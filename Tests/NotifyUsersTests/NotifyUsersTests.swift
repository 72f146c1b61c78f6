import BreakingNews
import Foundation
import HubEmulator
import HubServer
import Hummingbird
import NIOCore
import NotificationHub
import NotifyUsers
import TestSupport
import Testing

/// The calls of the tutorial "notify users", made by its apps against the example back end and a hub that protects
/// tags.
struct NotifyUsersTests {
    private static let handles = ["anna": ["A1", "A2"], "ben": ["B1", "B2"]]

    private func basic(_ name: String, password: String? = nil) -> (String, String) {
        ("Authorization", "Basic " + Data("\(name):\(password ?? name)".utf8).base64EncodedString())
    }

    /// The `Authorization` field of the back end.
    private func token(_ hub: RunningHub) -> (String, String) {
        let connection = hub.connectionString
        let value = SharedAccessSignature.token(
            resource: connection.endpoint.audience, keyName: connection.keyName, key: connection.key,
            expiresAt: 4_000_000_000)
        return ("Authorization", value)
    }

    /// Serves the back end on a free port while the body runs.
    private func withBackEnd(
        secret: AccessKey? = nil, _ body: @escaping @Sendable (Int, RunningHub) async throws -> Void
    ) async throws {
        let hub = try await Newsroom.hub { $0.protectsTags = true }
        let backEnd = BackEnd(hub.connectionString, hub: hub.hubName, secret: secret)
        let (ports, serving) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: backEnd.router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in serving.yield(channel.localAddress?.port ?? 0) })
        do {
            try await withThrowingTaskGroup { group in
                group.addTask {
                    try await application.run()
                    serving.finish()
                }
                for await port in ports {
                    try await body(port, hub)
                    break
                }
                group.cancelAll()
            }
        } catch is CancellationError {
        } catch {
            await hub.stop()
            throw error
        }
        await hub.stop()
    }

    /// Starts an app: it requests an id and registers with it.
    ///
    /// - Returns: the id, and the status of the registration.
    private func register(
        _ port: Int, _ name: String, _ handle: String, tags: String = "[]"
    ) async throws -> (id: String, status: Int) {
        let reserved = try await RawClient.call(
            port, "POST", "/api/register?handle=\(handle)", headers: [basic(name)])
        #expect(reserved.status == 200)
        // The tutorial's apps read the reply in this way.
        let id = reserved.text.trimmingCharacters(in: ["\""])
        let put = try await RawClient.call(
            port, "PUT", "/api/register/\(id)", headers: [basic(name), ("Content-Type", "application/json")],
            body: #"{"Platform":"apns","Handle":"\#(handle)","Tags":\#(tags)}"#)
        return (id, put.status)
    }

    private func notify(
        _ port: Int, from name: String, to: String, _ message: String, pns: String = "apns"
    ) async throws -> Int {
        try await RawClient.call(
            port, "POST", "/api/notifications?pns=\(pns)&to_tag=\(to)",
            headers: [basic(name), ("Content-Type", "application/json")], body: message
        ).status
    }

    /// Waits for the given number of notifications and returns their texts, by handle.
    private func arrived(_ hub: RunningHub, _ count: Int) async throws -> [String: [String]] {
        let handles = Set(Self.handles.values.flatMap { $0 })
        var texts: [String: [String]] = [:]
        var seen = Set<Int>()
        func take(_ delivery: PushedNotification) {
            guard seen.insert(delivery.number).inserted else { return }
            texts[delivery.handle, default: []].append(String(decoding: delivery.body, as: UTF8.self))
        }
        let watched = try #require(hub.deliveries(to: handles))
        for delivery in hub.delivered { take(delivery) }
        if seen.count >= count { return texts }
        for await delivery in watched {
            take(delivery)
            if seen.count >= count { break }
        }
        return texts
    }

    @Test func `each user gets messages on both devices, and no other user's`() async throws {
        try await withBackEnd { port, hub in
            for (name, handles) in Self.handles {
                for handle in handles { #expect(try await register(port, name, handle).status == 200) }
            }
            #expect(try await notify(port, from: "ben", to: "anna", #""Say \"hi\" <b>""#) == 200)
            #expect(try await notify(port, from: "anna", to: "ben", #""Hello""#) == 200)
            #expect(try await notify(port, from: "anna", to: "carl", #""Nobody""#) == 200)
            let hello = #"{"aps":{"alert":"From anna: Hello"}}"#
            let hi = #"{"aps":{"alert":"From ben: Say \"hi\" <b>"}}"#
            let texts = try await arrived(hub, 4)
            #expect(texts == ["A1": [hi], "A2": [hi], "B1": [hello], "B2": [hello]])
        }
    }

    @Test func `a device keeps one registration, which moves to the user who signs in on it`() async throws {
        try await withBackEnd { port, hub in
            let first = try await register(port, "anna", "A1")
            let again = try await register(port, "anna", "A1")
            #expect(first.id == again.id)
            let other = try await register(port, "ben", "A1")
            #expect(other.id == first.id)
            #expect(hub.registrationCount == 1)
            #expect(try await notify(port, from: "x", to: "anna", #""1""#) == 200)
            #expect(try await notify(port, from: "x", to: "ben", #""2""#) == 200)
            #expect(try await arrived(hub, 1) == ["A1": [#"{"aps":{"alert":"From x: 2"}}"#]])
            let gone = try await RawClient.call(port, "DELETE", "/api/register/\(first.id)", headers: [basic("ben")])
            #expect(gone.status == 200)
            #expect(hub.registrationCount == 0)
            let twice = try await RawClient.call(port, "DELETE", "/api/register/\(first.id)", headers: [basic("ben")])
            #expect(twice.status == 200)
        }
    }

    @Test func `surplus registrations of a device are deleted`() async throws {
        try await withBackEnd { port, hub in
            for tag in ["one", "two", "three"] {
                let entry = RegistrationEntry(channel: .apple(deviceToken: "A1"), tags: [try Tag(tag)])
                let made = try await RawClient.call(
                    hub.port, "POST", "/\(Newsroom.hubName)/registrations?api-version=2020-06",
                    headers: [token(hub), ("Content-Type", RegistrationEntry.contentType)],
                    bytes: entry.bytes)
                #expect(made.status == 200)
            }
            #expect(hub.registrationCount == 3)
            #expect(try await register(port, "anna", "A1").status == 200)
            #expect(hub.registrationCount == 1)
        }
    }

    @Test func `an id that the hub has dropped is answered with 410, and the app starts again`() async throws {
        try await withBackEnd { port, hub in
            let old = try await register(port, "anna", "A1")
            let set = try await RawClient.call(
                hub.port, "PUT", "/_emulator/devices/A1", body: #"{"outcome":"ExpiredChannel"}"#)
            #expect(set.status == 204)
            #expect(try await notify(port, from: "ben", to: "anna", #""Lost""#) == 200)
            _ = try await arrived(hub, 1)
            let put = try await RawClient.call(
                port, "PUT", "/api/register/\(old.id)", headers: [basic("anna")],
                body: #"{"Platform":"apns","Handle":"A1","Tags":[]}"#)
            #expect(put.status == 410)
            let new = try await register(port, "anna", "A1")
            #expect(new.status == 200)
            #expect(new.id != old.id)
        }
    }

    @Test(arguments: [
        nil, ("Authorization", "Basic YW5uYTpiZW4="), ("Authorization", "Bearer x"), ("Authorization", "Basic ***"),
    ])
    func `unknown callers are refused`(credentials: (String, String)?) async throws {
        try await withBackEnd { port, hub in
            let headers = credentials.map { [$0] } ?? []
            let calls = [
                ("POST", "/api/register?handle=A1"), ("PUT", "/api/register/1-2-3"), ("DELETE", "/api/register/1-2-3"),
                ("POST", "/api/notifications?pns=apns&to_tag=anna"),
            ]
            for (method, path) in calls {
                let reply = try await RawClient.call(port, method, path, headers: headers, body: "{}")
                #expect(reply.status == 401)
            }
            #expect(hub.receivedCount == 0)
        }
    }

    @Test(arguments: [
        #"{"Platform":"mpns","Handle":"A1","Tags":[]}"#, #"{"Platform":"apns","Handle":"","Tags":[]}"#,
        #"{"Platform":"apns","Tags":[]}"#, #"{"Platform":"apns","Handle":"A1","Tags":["a b"]}"#, "[]", "",
        #"{"Platform":"apns","Handle":"no token","Tags":[]}"#,
    ])
    func `an invalid device is refused`(body: String) async throws {
        try await withBackEnd { port, hub in
            let put = try await RawClient.call(
                port, "PUT", "/api/register/1-2-3", headers: [basic("anna")], body: body)
            #expect(put.status == 400)
            #expect(hub.registrationCount == 0)
        }
    }

    @Test func `an app cannot take tags that only its back end assigns`() async throws {
        try await withBackEnd(secret: AccessKey("0123456789abcdef")) { port, hub in
            let users = UserTags.signed(with: AccessKey("0123456789abcdef"))
            let (annas, bens) = (try users.tag(of: "anna").text, try users.tag(of: "ben").text)
            let tags = #"["World","username:ben","UserName:ben","\#(bens)","staff","$UserId:{ben}"]"#
            #expect(try await register(port, "anna", "A1", tags: tags).status == 200)
            #expect(try await register(port, "ben", "B1").status == 200)
            func alert(_ tag: String) -> String { #"{"aps":{"alert":"\#(tag)"}}"# }
            for tag in ["staff", bens, annas, "World"] {
                let reply = try await RawClient.call(
                    hub.port, "POST", "/\(Newsroom.hubName)/messages?api-version=2020-06",
                    headers: [
                        token(hub), ("Content-Type", "application/json"), ("ServiceBusNotification-Format", "apple"),
                        ("ServiceBusNotification-Tags", tag),
                    ], body: alert(tag))
                #expect(reply.status == 201)
            }
            let texts = try await arrived(hub, 3)
            #expect(texts == ["A1": [alert(annas), alert("World")], "B1": [alert(bens)]])
        }
    }

    @Test(arguments: ["wns", "fcm"]) func `other platforms receive the form they support`(pns: String) async throws {
        try await withBackEnd { port, hub in
            #expect(try await notify(port, from: "ben", to: "anna", #""a < b""#, pns: pns) == 200)
            let message = try #require(hub.received.last)
            let body = String(decoding: message.body, as: UTF8.self)
            #expect(body.contains(pns == "wns" ? "From ben: a &lt; b" : #""message":"From ben: a < b""#))
        }
    }

    @Test(arguments: ["pns=mpns&to_tag=anna", "pns=apns", "to_tag=anna", "pns=apns&to_tag=a%20b"])
    func `a message without a valid recipient is refused`(query: String) async throws {
        try await withBackEnd { port, hub in
            let reply = try await RawClient.call(
                port, "POST", "/api/notifications?\(query)", headers: [basic("ben")], body: #""text""#)
            #expect(reply.status == 400)
            #expect(hub.receivedCount == 0)
        }
    }
}
