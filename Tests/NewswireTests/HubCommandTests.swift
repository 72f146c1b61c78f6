import Foundation
import HubServer
import NotificationHub
import TestSupport
import Testing

/// `newswire hub` as a user runs it.
struct HubCommandTests {
    private static let registration = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription>\
        <Tags>World</Tags><DeviceToken>AB12</DeviceToken></AppleRegistrationDescription></content></entry>
        """

    @Test func `a killed hub still has what it acknowledged, and accepts the same keys`() async throws {
        let store = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString).sqlite")
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) } }

        let first = try await Hub("--store", store.path)
        for number in 1...50 {
            #expect(try await first.call("PUT", "registrations/1-\(number)-3", Self.registration) == 200)
            #expect(try await first.call("POST", "messages", #"{"aps":{"alert":"\#(number)"}}"#) == 201)
        }
        try await first.kill()

        let second = try await Hub("--store", store.path)
        for number in 1...50 { #expect(try await second.call("GET", "registrations/1-\(number)-3") == 200) }
        #expect(try await second.call("POST", "messages", "{}") == 201)
        let kept = try await RawClient.call(second.port, "GET", "/_emulator/count")
        #expect(kept.text == #"{"count":51}"#)
        #expect(second.connection.key == first.connection.key)
        try await second.kill()
    }

    @Test func `a hub starts with the requested number of devices and prints what they cost`() async throws {
        let hub = try await Hub("--devices", "2500")
        #expect(try hub.program.output.contains(/^2,500 devices over 1,000 tags registered in .+ MB\n/))
        #expect(try hub.program.output.contains("its deliveries, at most 3, take "))
        let status = try await RawClient.call(hub.port, "GET", "/_emulator/status")
        #expect(status.text == #"{"received":0,"delivered":0,"registrations":2500}"#)
        try await hub.kill()
    }

    /// The program, with its connection string read from what it prints.
    private struct Hub {
        let program: Program.Running
        let connection: ConnectionString

        init(_ options: String...) async throws {
            program = try Program.start(["hub", "--listen", "127.0.0.1:0"] + options)
            let deadline = ContinuousClock.now + .seconds(30)
            var found: ConnectionString?
            while found == nil {
                try #require(ContinuousClock.now < deadline, "the hub did not open in 30 s")
                found = try program.output.split(separator: "\n").lazy.filter { $0.hasPrefix("Endpoint=") }
                    .compactMap { try? ConnectionString(parsing: String($0)) }.first
                await Task.yield()
            }
            connection = try #require(found)
        }

        var port: Int { connection.endpoint.port }

        func call(_ method: String, _ path: String, _ body: String = "") async throws -> Int {
            var token = AccessToken(connection)
            return try await RawClient.call(
                port, method, "/breaking-news/\(path)?api-version=2015-01",
                headers: [
                    ("Authorization", token.headerValue(at: Int64(Date().timeIntervalSince1970))),
                    ("ServiceBusNotification-Format", "apple"),
                    ("Content-Type", body.hasPrefix("<") ? "application/xml" : "application/json"),
                ], body: body
            ).status
        }

        func kill() async throws {
            program.signal(SIGKILL)
            #expect(try await program.ended().status == SIGKILL)
        }
    }
}
