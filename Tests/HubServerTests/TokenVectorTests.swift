import HubServer
import NotificationHub
import Testing

/// The SAS vectors, accepted and refused, over the wire.
struct TokenVectorTests {
    private static let host = "newsroom-ns.servicebus.windows.net"

    private static let accepted: [(String, String, String, String)] = [
        (
            "V1", "http%3a%2f%2f\(host)%2fbreakingnews%2fmessages%2f",
            "b3iHlZEP0WRAk7yc9cLrKb7IxMb5sRY9%2bI2uBMMH%2frA%3d",
            "/messages?api-version=2020-06"
        ),
        (
            "V2", "https%3A%2F%2F\(host)%2F", "Gt0acF7knB6%2Fx8i0tcV0RxId9cwmBlBK2Hi23goOIuA%3D",
            "/messages?api-version=2020-06"
        ),
        (
            "V3", "https%3a%2f%2f\(host)%2fbreakingnews%2fmessages%3fapi-version%3d2020-06",
            "Xmh0Mjv/jY4k+SLmhnKyGmlvSPbXl4UMXD9UZLBAtaE=", "/messages?api-version=2020-06"
        ),
        (
            "V5", "https%3a%2f%2f\(host)%2fbreakingnews", "j6q6ffj7LuGeDP2G69xpNNIwVbORlxI4GWMDMBrSH/U%3D",
            "/messages?api-version=2020-06"
        ),
        (
            "V6", "https%3A%2F%2F\(host)", "9lK+K10TkDYr5hvv8V+o0MJ3bctGEm0XH9WeZHTSin4=",
            "/messages?api-version=2020-06"
        ),
        (
            "V8", "https%3a%2f%2f\(host)%2fbreakingnews%2fmessages%2f%3fapi-version%3d2015-01",
            "2dAAFz64%2Fe31EpgwCTtMGbxvl9Ei09VmpimRRat6gKk%3D", "/messages/?api-version=2015-01"
        ),
    ]

    @Test(arguments: accepted)
    func `every client's way of signing is accepted`(name: String, sr: String, sig: String, path: String) async throws {
        try await withVectorHub { hub in
            let reply = try await send(
                hub, path, "sr=\(sr)&sig=\(sig)&se=1893456000&skn=DefaultFullSharedAccessSignature")
            #expect(reply?.status == 201, "\(name) \(reply?.text ?? "")")
            let turned = try await send(
                hub, path, "sig=\(sig)&se=1893456000&skn=DefaultFullSharedAccessSignature&sr=\(sr)")
            #expect(turned?.status == 201, "\(name) in another order")
        }
    }

    private static let v1 = "http%3a%2f%2f\(host)%2fbreakingnews%2fmessages%2f"
    private static let refused: [(String, String, String, String)] = [
        (v1, "1893456000", "d9GnBegQ5Sb7JrWmI3INhBC71PDg7kY1CwpBueIrkwk=", "InvalidSignature"),
        (v1, "1893456000", "WHAfA6Fd6DN5nAnss3/0nhD5cf1d7zLXuViom8ifzXE=", "InvalidSignature"),
        (v1, "1893456000", "6Vc8XQ1d12m/WruVjdkWad5q6G+2n2ZsN9Ga8AqMviA=", "InvalidSignature"),
        (
            "https%3a%2f%2f\(host)%2fbreakingnews%2fmessages%2f%3fapi-version%3d2015-01", "1577836800",
            "JlnKlHRBUGn1C22XUn56IxPuN7nDzPZn6yAsmusyZ1A=", "ExpiredToken"
        ),
        (
            "http%3a%2f%2fother-ns.servicebus.windows.net%2f", "1893456000",
            "zFLc9Xrw5MKY0iMe4TqUM+irTwsL0oQG9A2dz3q+1dk=", "InvalidAudience"
        ),
    ]

    @Test(arguments: refused)
    func `what must be refused is refused`(sr: String, se: String, sig: String, word: String) async throws {
        try await withVectorHub { hub in
            let token = "sr=\(sr)&sig=\(sig)&se=\(se)&skn=DefaultFullSharedAccessSignature"
            let reply = try #require(try await send(hub, "/messages/?api-version=2015-01", token))
            #expect(reply.status == 401)
            #expect(ErrorBody(scanning: reply.body).message?.hasPrefix(word) == true, "\(reply.text)")
        }
    }

    private func send(_ hub: RunningHub, _ path: String, _ token: String) async throws -> RawClient.Reply? {
        try await RawClient.call(
            hub.port, "POST", "/BreakingNews" + path, host: Self.host,
            headers: [
                ("Authorization", "SharedAccessSignature " + token), ("Content-Type", "application/json"),
                ("ServiceBusNotification-Format", "template"), ("ServiceBusNotification-Tags", "World"),
            ], body: #"{"messageParam":"Hi"}"#)
    }
}
