import HubServer
import NotificationHub
import TestSupport
import Testing

/// Tests the SAS vectors over HTTP, valid and invalid ones.
struct TokenVectorTests {
    private static let host = "newsroom-ns.servicebus.windows.net"
    private static let hub = "\(host)%2fbreakingnews"

    /// One client's way of signing a call.
    struct Vector: Sendable, CustomStringConvertible {
        var description: String
        var sr: String
        var sig: String
        var call: Call = .send(query: "messages?api-version=2020-06")
    }

    enum Call: Sendable {
        case send(query: String)
        case batch
        case list(query: String)
    }

    private static let accepted = [
        Vector(
            description: "V1", sr: "http%3a%2f%2f\(hub)%2fmessages%2f",
            sig: "b3iHlZEP0WRAk7yc9cLrKb7IxMb5sRY9%2bI2uBMMH%2frA%3d"),
        Vector(
            description: "V2", sr: "https%3A%2F%2F\(host)%2F", sig: "Gt0acF7knB6%2Fx8i0tcV0RxId9cwmBlBK2Hi23goOIuA%3D"),
        Vector(
            description: "V3", sr: "https%3a%2f%2f\(hub)%2fmessages%3fapi-version%3d2020-06",
            sig: "Xmh0Mjv/jY4k+SLmhnKyGmlvSPbXl4UMXD9UZLBAtaE="),
        Vector(
            description: "V4",
            sr: "http%3a%2f%2f\(hub)%2fregistrations%2f%3f%24filter%3ddevicetoken%2beq%2b%27abcd%27"
                + "%26api-version%3d2013-04",
            sig: "kqZ5lIstT4VHcHxwBw3MV139KyuLlZQxFA5E+luKaT8=",
            call: .list(query: "Registrations/?$filter=deviceToken+eq+'ABCD'&api-version=2013-04")),
        Vector(
            description: "V5", sr: "https%3a%2f%2f\(hub)", sig: "j6q6ffj7LuGeDP2G69xpNNIwVbORlxI4GWMDMBrSH/U%3D"),
        Vector(
            description: "V6", sr: "https%3A%2F%2F\(host)", sig: "9lK+K10TkDYr5hvv8V+o0MJ3bctGEm0XH9WeZHTSin4="),
        Vector(
            description: "V7", sr: "https%3a%2f%2f\(hub)%2fmessages%2f%24batch%3fapi-version%3d2020-06%26direct",
            sig: "Gc/z5hqUk8vbyOrL/ZS9CE6QG4gfw0qZ7uWCaVq4WlY=", call: .batch),
        Vector(
            description: "V8", sr: "https%3a%2f%2f\(hub)%2fmessages%2f%3fapi-version%3d2015-01",
            sig: "2dAAFz64%2Fe31EpgwCTtMGbxvl9Ei09VmpimRRat6gKk%3D",
            call: .send(query: "messages/?api-version=2015-01")),
    ]

    private static let rest = "se=1893456000&skn=DefaultFullSharedAccessSignature"

    @Test(arguments: accepted)
    func `every client's way of signing is accepted`(vector: Vector) async throws {
        try await withVectorHub { hub in
            let success = if case .list = vector.call { 200 } else { 201 }
            for token in [
                "sr=\(vector.sr)&sig=\(vector.sig)&\(Self.rest)", "sig=\(vector.sig)&\(Self.rest)&sr=\(vector.sr)",
            ] {
                let reply = try await make(vector.call, hub, token)
                #expect(reply.status == success, "\(reply.text)")
            }
        }
    }

    @Test(arguments: accepted)
    func `one changed digit of the signature or the time is refused`(vector: Vector) async throws {
        try await withVectorHub { hub in
            let first = vector.sig.prefix(1) == "b" ? "c" : "b"
            for token in [
                "sr=\(vector.sr)&sig=\(first + vector.sig.dropFirst())&\(Self.rest)",
                "sr=\(vector.sr)&sig=\(vector.sig)&se=1893456001&skn=DefaultFullSharedAccessSignature",
            ] {
                let reply = try await make(vector.call, hub, token)
                #expect(reply.status == 401)
                #expect(ErrorBody(scanning: reply.body).message?.hasPrefix("InvalidSignature") == true)
            }
        }
    }

    private static let v1 = "http%3a%2f%2f\(hub)%2fmessages%2f"
    private static let refused: [(String, String, String, String)] = [
        (v1, "1893456000", "d9GnBegQ5Sb7JrWmI3INhBC71PDg7kY1CwpBueIrkwk=", "InvalidSignature"),
        (v1, "1893456000", "WHAfA6Fd6DN5nAnss3/0nhD5cf1d7zLXuViom8ifzXE=", "InvalidSignature"),
        (v1, "1893456000", "6Vc8XQ1d12m/WruVjdkWad5q6G+2n2ZsN9Ga8AqMviA=", "InvalidSignature"),
        (
            "https%3a%2f%2f\(hub)%2fmessages%2f%3fapi-version%3d2015-01", "1577836800",
            "JlnKlHRBUGn1C22XUn56IxPuN7nDzPZn6yAsmusyZ1A=", "ExpiredToken"
        ),
        (
            "http%3a%2f%2fother-ns.servicebus.windows.net%2f", "1893456000",
            "zFLc9Xrw5MKY0iMe4TqUM+irTwsL0oQG9A2dz3q+1dk=", "InvalidAudience"
        ),
    ]

    @Test(arguments: refused)
    func `invalid tokens are refused`(sr: String, se: String, sig: String, word: String) async throws {
        try await withVectorHub { hub in
            let token = "sr=\(sr)&sig=\(sig)&se=\(se)&skn=DefaultFullSharedAccessSignature"
            let reply = try await make(.send(query: "messages/?api-version=2015-01"), hub, token)
            #expect(reply.status == 401)
            #expect(ErrorBody(scanning: reply.body).message?.hasPrefix(word) == true, "\(reply.text)")
        }
    }

    private func make(_ call: Call, _ hub: RunningHub, _ token: String) async throws -> RawClient.Reply {
        let headers = [("Host", Self.host), ("Authorization", "SharedAccessSignature " + token)]
        switch call {
        case .list(let query):
            return try await RawClient.call(hub.port, "GET", "/BreakingNews/" + query, headers: headers)
        case .send(let query):
            let kind = [
                ("Content-Type", "application/json"), ("ServiceBusNotification-Format", "template"),
                ("ServiceBusNotification-Tags", "World"),
            ]
            return try await RawClient.call(
                hub.port, "POST", "/BreakingNews/" + query, headers: headers + kind, body: #"{"messageParam":"Hi"}"#)
        case .batch:
            let kind = [
                ("Content-Type", "multipart/mixed; boundary = \"b\""), ("ServiceBusNotification-Format", "apple"),
            ]
            let body =
                "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n"
                + "--b\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=devices\r\n\r\n"
                + "[\"AB12\"]\r\n--b--\r\n"
            return try await RawClient.call(
                hub.port, "POST", "/BreakingNews/messages/$batch?api-version=2020-06&direct",
                headers: headers + kind, body: body)
        }
    }
}
