import Foundation
import HubServer
import NIOCore
import NIOPosix
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

    #if os(Linux)
    @Test func `a hub with a full disk confirms nothing it cannot keep, reports it, and continues with room`()
        async throws
    {
        let store = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString).sqlite")
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) } }
        let hub = try await Hub("--store", store.path, fileSizeMax: 200)
        var confirmed = 0
        while confirmed < 500 {
            let reply = try await hub.reply("PUT", "registrations/1-\(confirmed + 1)-3", Self.registration)
            if reply.status == 200 { confirmed += 1; continue }
            #expect(reply.status == 503 && reply.headers["retry-after"] == "5")
            #expect(ErrorBody(scanning: reply.body).message?.contains("the disk is full or fails") == true)
            break
        }
        #expect(1..<500 ~= confirmed)
        #expect(try await hub.call("GET", "registrations/1-1-3") == 200)
        for _ in 0..<3 { #expect(try await hub.call("POST", "messages", "{}") == 503) }
        let count = try await RawClient.call(hub.port, "GET", "/_emulator/count")
        #expect(count.text == #"{"count":0}"#)
        // Another thread writes to standard error, maybe after the reply.
        let error = "error: the store \(store.path) cannot be used: the disk is full"
        #expect(try await hub.program.wrote(error).hasPrefix(error))
        #expect(hub.program.errors.split(separator: "\n").count == 1)

        let raised = try await Program.run(
            pasted: "prlimit --pid \(hub.program.id) --fsize=unlimited:", in: store.deletingLastPathComponent())
        #expect(raised.status == 0, "\(raised.errors)")
        #expect(try await hub.call("POST", "messages", "{}") == 201)
        let complete = "the store \(store.path) is complete again"
        #expect(try await hub.program.wrote(complete).hasSuffix(complete))
        try await hub.kill()

        let second = try await Hub("--store", store.path)
        // The refused registration is kept too, because it was made before the disk was found full.
        for number in 1...confirmed + 1 {
            #expect(try await second.call("GET", "registrations/1-\(number)-3") == 200)
        }
        let kept = try await RawClient.call(second.port, "GET", "/_emulator/count")
        #expect(kept.text == #"{"count":1}"#)
        try await second.kill()
    }
    #endif

    @Test func `options make the hub behave as another tier, at another pace and in another year`() async throws {
        let hub = try await Hub("--tier", "basic", "--sends-per-minute", "2", "--api-era", "2018")
        #expect(try await hub.call("POST", "messages", "{}") == 201)
        #expect(try await hub.call("POST", "schedulednotifications", "{}") == 403)
        #expect(try await hub.call("POST", "messages", "{}") == 201)
        // This old api-version is throttled with 403.
        #expect(try await hub.call("POST", "messages", "{}") == 403)
        try await hub.kill()
    }

    @Test func `a wrong option is refused with its remedy`() async throws {
        for (arguments, remedy) in [
            (["--tier", "standart"], "Did you mean standard? Known: free, basic, standard."),
            (["--api-era", "2019"], "Known: 2018, 2023."),
            (["--name", "_storage"], "must not begin with '_': such names are the emulator's own. Choose another"),
            (["--installation-lag", "1h"], "--installation-lag must be 0s to 10m, e.g. 2s."),
            (["--clock-skew", "x"], "--clock-skew must be 0s to 1h, e.g. 30s."),
            (["--sends-per-minute", "0"], "--sends-per-minute must be 1 to 1000000; leave it out for no limit."),
        ] {
            let ended = try await Program.run(["hub"] + arguments)
            #expect(ended.status == 64 && ended.errors.contains(remedy), "\(ended.errors)")
        }
    }

    @Test func `a store serves one hub at a time, and another hub once the first is killed`() async throws {
        let store = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString).sqlite")
        defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: store.path + end) } }
        let first = try await Hub("--store", store.path)
        let second = try await Program.run(["hub", "--listen", "127.0.0.1:0", "--store", store.path])
        #expect(second.status == 1)
        #expect(
            second.errors == "error: the store \(store.path) cannot be used: it is in use by another hub or program; "
                + "stop that, or choose another file with --store\n")
        try await first.kill()
        let third = try await Hub("--store", store.path)
        try await third.kill()
    }

    @Test func `a store that cannot be used is named with its remedy`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "hub-\(UUID().uuidString).sqlite")
        try Data(String(repeating: "not a store", count: 100).utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        for (path, reason) in [
            (file.path, "it is damaged, or not the store of a hub; restore it"),
            ("/no/such/folder/hub.sqlite", "it cannot be opened; create its folder"),
        ] {
            let ended = try await Program.run(["hub", "--listen", "127.0.0.1:0", "--store", path])
            #expect(ended.status == 1)
            #expect(ended.errors.hasPrefix("error: the store \(path) cannot be used: \(reason)"), "\(ended.errors)")
        }
    }

    @Test func `a port that is taken is named with its remedy`() async throws {
        let hub = try await Hub()
        for command in [["hub", "--listen", "127.0.0.1:\(hub.port)"], ["demo", "--once", "--port", "\(hub.port)"]] {
            let ended = try await Program.run(command)
            #expect(ended.status == 1)
            #expect(
                ended.errors.hasSuffix(
                    "error: 127.0.0.1:\(hub.port) is in use by another process; "
                        + "stop that process, or choose another port\n"), "\(ended.errors)")
        }
        try await hub.kill()
    }

    /// Accepting used to fail repeatedly, which filled a whole core and left other callers unserved.
    @Test func `callers are served when more connections are open than the process may have files`() async throws {
        let hub = try await Hub(filesMax: 40)
        var crowd: [any Channel] = []
        for _ in 0..<100 {
            crowd.append(
                try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                    .connect(host: "127.0.0.1", port: hub.port).get())
        }
        let reply = try await RawClient.call(hub.port, "GET", "/_emulator/count")
        #expect(reply.status == 200)
        for client in crowd { client.close(promise: nil) }
        try await hub.kill()
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

        /// - Parameters:
        ///   - filesMax: the maximum number of files and sockets that it may open.
        ///   - fileSizeMax: the maximum size of each written file, in blocks of 512 bytes, until the limit is raised.
        init(_ options: String..., filesMax: Int? = nil, fileSizeMax: Int? = nil) async throws {
            let arguments = ["hub", "--listen", "127.0.0.1:0"] + options
            var limits: [String] = []
            if let filesMax { limits.append("ulimit -n \(filesMax)") }
            if let fileSizeMax { limits.append("trap '' XFSZ && ulimit -S -f \(fileSizeMax)") }
            program = try Program.start(arguments, after: limits)
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
            try await reply(method, path, body).status
        }

        func reply(_ method: String, _ path: String, _ body: String = "") async throws -> RawClient.Reply {
            var token = AccessToken(connection)
            return try await RawClient.call(
                port, method, "/breaking-news/\(path)?api-version=2015-01",
                headers: [
                    ("Authorization", token.headerValue(at: Int64(Date().timeIntervalSince1970))),
                    ("ServiceBusNotification-Format", "apple"),
                    ("Content-Type", body.hasPrefix("<") ? "application/xml" : "application/json"),
                ], body: body)
        }

        func kill() async throws {
            program.signal(SIGKILL)
            #expect(try await program.ended().status == SIGKILL)
        }
    }
}
