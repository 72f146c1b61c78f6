import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

/// Runs a hub with the keys of the published SAS vectors.
func withVectorHub(
    _ configure: @Sendable @escaping (inout HubServerSettings) -> Void = { _ in },
    _ body: (RunningHub) async throws -> Void
) async throws {
    let given = try ConnectionString(
        parsing: "Endpoint=sb://newsroom-ns.servicebus.windows.net/;"
            + "SharedAccessKeyName=DefaultFullSharedAccessSignature;"
            + "SharedAccessKey=bmV3c3Jvb20taHViLXRlc3Qta2V5LTAwMDEhISEhISE=")
    var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"), connectionString: given)
    configure(&settings)
    let hub = try await HubServer(settings).start()
    do { try await body(hub) } catch {
        await hub.stop()
        throw error
    }
    await hub.stop()
}

/// The `Authorization` field of a client of this hub.
func token(_ hub: RunningHub, listen: Bool = false) throws -> (String, String) {
    let connection = listen ? try #require(hub.listenConnectionString) : hub.connectionString
    let value = SharedAccessSignature.token(
        resource: connection.endpoint.audience, keyName: connection.keyName, key: connection.key,
        expiresAt: 4_000_000_000)
    return ("Authorization", value)
}

struct ServedHubTests {
    private static let send = [
        ("Content-Type", "application/json"), ("ServiceBusNotification-Format", "template"),
        ("ServiceBusNotification-Tags", "World"),
    ]

    @Test
    func `a send goes through and is listed`() async throws {
        try await withVectorHub { hub in
            let reply = try await RawClient.call(
                hub.port, "POST", "/BreakingNews/messages/?api-version=2020-06",
                headers: Self.send + [token(hub)], body: #"{"messageParam":"Breaking World News!"}"#)
            #expect(reply.status == 201)
            #expect(reply.headers["content-length"] == "0")
            let location = try #require(reply.headers["location"])
            #expect(location.hasPrefix("http://127.0.0.1:\(hub.port)/BreakingNews/messages/"))
            #expect(hub.receivedCount == 1)
            #expect(hub.received.first?.id == NotificationID.inLocation(location))

            let count = try await RawClient.call(hub.port, "GET", "/_emulator/count")
            #expect(count.text == #"{"count":1}"#)
            let listed = try await RawClient.call(hub.port, "GET", "/_emulator/messages?after=0")
            let json = try #require(JSONTree(parsing: listed.body))
            guard case .array(let messages) = json["messages"] else { throw HubServerProblem.settings(["no list"]) }
            #expect(messages.count == 1)
            #expect(messages.first?["body"]?.string == #"{"messageParam":"Breaking World News!"}"#)
            #expect(messages.first?["tags"]?.string == "World")
            #expect(messages.first?["query"]?.string == "api-version=2020-06")
            #expect(messages.first?["headers"]?["Content-Type"]?.string == "application/json")
            #expect(messages.first?["headers"]?["Authorization"] == nil)
        }
    }

    @Test
    func `a listen key may not send`() async throws {
        try await withVectorHub { hub in
            let reply = try await RawClient.call(
                hub.port, "POST", "/BreakingNews/messages?api-version=2020-06",
                headers: Self.send + [token(hub, listen: true)], body: "{}")
            #expect(reply.status == 403)
            #expect(reply.headers["content-length"] == "0")
            #expect(reply.headers["retry-after"] == nil)
        }
    }

    @Test
    func `a client that expects 100-continue gets it`() async throws {
        try await withVectorHub { hub in
            let head =
                "POST /BreakingNews/messages HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
            let lines = try await RawClient.lines(hub.port, head, answer: "{}")
            #expect(lines == ["HTTP/1.1 100 Continue", "HTTP/1.1 401 Unauthorized"])
        }
    }

    @Test
    func `a body over 64 KB is refused with 413 and an error body`() async throws {
        try await withVectorHub { hub in
            let reply = try await RawClient.call(
                hub.port, "POST", "/BreakingNews/messages",
                headers: Self.send + [token(hub)], body: String(repeating: "x", count: 300_000))
            #expect(reply.status == 413)
            #expect(ErrorBody(scanning: reply.body).code == 413)
        }
    }

    @Test
    func `faults are set over http and a reset gives no answer`() async throws {
        try await withVectorHub { hub in
            let set = try await RawClient.call(
                hub.port, "POST", "/_emulator/faults",
                body: #"[{"reset":"after","next":1},{"status":429,"retryAfter":7,"next":2}]"#)
            #expect(set.status == 200)
            hub.clearFaults()
            _ = try await RawClient.call(
                hub.port, "POST", "/_emulator/faults", body: #"{"reset":"after","next":1}"#)
            let request = { @Sendable in
                try await RawClient.call(
                    hub.port, "POST", "/BreakingNews/messages",
                    headers: Self.send + [token(hub)], body: "{}")
            }
            await #expect(throws: RawClient.NoReply.self) { try await request() }
            #expect(hub.receivedCount == 1)
            let wrong = try await RawClient.call(hub.port, "POST", "/_emulator/faults", body: #"{"status":1}"#)
            #expect(wrong.status == 400)
            _ = try await RawClient.call(
                hub.port, "POST", "/_emulator/faults", body: #"{"status":429,"retryAfter":7,"next":1}"#)
            let throttled = try await request()
            #expect(throttled.status == 429 && throttled.headers["retry-after"] == "7")
            #expect(try await request().status == 201)
        }
    }

    /// The delivery loop used to end first, which cancelled the server and ended the process.
    @Test(arguments: 0..<10)
    func `a hub stops while callers keep asking`(round: Int) async throws {
        let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("news"))).start()
        let port = hub.port
        let callers = (0..<4).map { _ in
            Task { while (try? await RawClient.call(port, "GET", "/_emulator/count")) != nil {} }
        }
        for _ in 0..<4 { #expect(try await RawClient.call(port, "GET", "/_emulator/count").status == 200) }
        await hub.stop()
        for caller in callers { await caller.value }
    }

    @Test
    func `a page of another site cannot use the emulator's own paths`() async throws {
        try await withVectorHub { hub in
            let rebound = try await RawClient.call(
                hub.port, "GET", "/_emulator/count", headers: [("Host", "evil.example")])
            #expect(rebound.status == 403)
            let foreign = try await RawClient.call(
                hub.port, "POST", "/_emulator/faults", headers: [("Origin", "http://evil.example")],
                body: #"{"status":500}"#)
            #expect(foreign.status == 403)
            for path in ["/_emulator/messages", "/_emulator/storage", "/_emulator/stream?handle=a"] {
                let embedded = try await RawClient.call(
                    hub.port, "GET", path, headers: [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "no-cors")])
                #expect(embedded.status == 403, "\(path)")
            }
            let own = try await RawClient.call(
                hub.port, "GET", "/_emulator/count", headers: [("Sec-Fetch-Site", "same-origin")])
            #expect(own.status == 200)
        }
    }

    @Test
    func `a batch from an authorised client may be longer than other sends`() async throws {
        try await withVectorHub { hub in
            let handles = (0..<1000).map { _ in "\"" + String(repeating: "A", count: 64) + "\"" }
            let part = "Content-Type: application/json\r\nContent-Disposition: inline; name="
            let body =
                "--b\r\n\(part)notification\r\n\r\n{\"aps\":{}}\r\n--b\r\n\(part)devices\r\n\r\n"
                + "[\(handles.joined(separator: ","))]\r\n--b--\r\n"
            for (token, path, status) in [
                (try token(hub), "messages/$batch?direct", 201), (try token(hub), "messages?direct", 413),
                (try token(hub, listen: true), "messages/$batch?direct", 403),
                (("Authorization", ""), "messages/$batch?direct", 401),
            ] {
                let reply = try await RawClient.call(
                    hub.port, "POST", "/BreakingNews/\(path)",
                    headers: [
                        token, ("ServiceBusNotification-Format", "apple"),
                        ("Content-Type", "multipart/mixed; boundary=b"),
                    ], body: body)
                #expect(reply.status == status, "\(path): \(reply.text)")
            }
        }
    }

    @Test
    func `a hub in a container can be inspected from outside if the setting permits it`() async throws {
        let asked: [(String, (String, String)?, Int, Int)] = [
            ("hub:8090", nil, 403, 200), ("172.17.0.2", nil, 403, 200),
            ("localhost:8090", ("Origin", "http://localhost:8090"), 200, 200),
            ("hub:8090", ("Origin", "http://hub:8090"), 403, 200),
            ("hub:8090", ("Origin", "http://evil.example"), 403, 403), ("evil.example:8090", nil, 403, 403),
            ("evil.example", ("Origin", "http://evil.example"), 403, 403),
        ]
        for allowsRemote in [false, true] {
            try await withVectorHub({ $0.allowsRemoteInspection = allowsRemote }) { hub in
                for (host, origin, usual, allowed) in asked {
                    let headers = [("Host", host)] + (origin.map { [$0] } ?? [])
                    let reply = try await RawClient.call(hub.port, "GET", "/_emulator/count", headers: headers)
                    #expect(reply.status == (allowsRemote ? allowed : usual), "\(host), \(allowsRemote)")
                }
            }
        }
    }

    @Test
    func `a port in use is reported by name`() async throws {
        try await withVectorHub { hub in
            let settings = HubServerSettings(port: hub.port, hubName: try HubName("other"))
            await #expect(throws: HubServerProblem.self) { try await HubServer(settings).start() }
        }
    }
}
