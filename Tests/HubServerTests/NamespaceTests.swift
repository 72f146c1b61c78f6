import Foundation
import GRDB
import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

/// Several hubs in one process and one file.
struct NamespaceTests {
    private static let description = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>
        """
    private static let registration = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription>\
        <Tags>World</Tags><DeviceToken>CC</DeviceToken></AppleRegistrationDescription></content></entry>
        """

    private static func rootToken(_ hub: RunningHub) throws -> (String, String) {
        let connection = try #require(hub.namespaceConnectionString)
        let value = SharedAccessSignature.token(
            resource: connection.endpoint.audience, keyName: connection.keyName, key: connection.key,
            expiresAt: 4_000_000_000)
        return ("Authorization", value)
    }

    private static func withDirectory(_ body: (URL) async throws -> Void) async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "hub-\(UInt64.random(in: 0 ... .max))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(directory)
    }

    @Test
    func `the root address is a page for a browser and a feed for a client`() async throws {
        try await withVectorHub { hub in
            let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
            let page = try await RawClient.call(hub.port, "GET", "/", headers: [("Accept", accept)])
            #expect(page.headers["content-type"]?.hasPrefix("text/html") == true)
            let asked = try await RawClient.call(hub.port, "GET", "/", headers: [("Accept", "application/atom+xml")])
            #expect(asked.status == 401 && asked.text.contains("MissingToken"))
            let feed = try await RawClient.call(hub.port, "GET", "/", headers: [Self.rootToken(hub)])
            #expect(feed.headers["content-type"] == "application/atom+xml; type=feed; charset=utf-8")
            #expect(feed.text.contains("<title type=\"text\">BreakingNews</title>"))
        }
    }

    @Test
    func `the store keeps all hubs with their keys and contents`() async throws {
        try await Self.withDirectory { directory in
            var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
            settings.storePath = directory.appending(path: "hub.sqlite").path
            let first = try await HubServer(settings).start()
            let token = try Self.rootToken(first)
            for name in ["sports", "gone"] {
                let made = try await RawClient.call(
                    first.port, "PUT", "/\(name)?api-version=2017-04", headers: [token], body: Self.description)
                #expect(made.status == 201)
            }
            for name in ["BreakingNews", "sports", "gone"] {
                let put = try await RawClient.call(
                    first.port, "PUT", "/\(name)/registrations/1-2-3", headers: [token], body: Self.registration)
                #expect(put.status == 200)
            }
            let before = try await RawClient.call(first.port, "GET", "/sports", headers: [token])
            let deleted = try await RawClient.call(first.port, "DELETE", "/gone", headers: [token])
            #expect(deleted.status == 200)
            await first.stop()

            let second = try await HubServer(settings).start()
            #expect(second.namespaceConnectionString?.key == first.namespaceConnectionString?.key)
            let after = try await RawClient.call(second.port, "GET", "/sports", headers: [token])
            // The count of the day's calls restarts.
            let kept = before.text.replacing(":\(first.port)/", with: ":\(second.port)/")
                .replacing("<DailyApiCalls>1<", with: "<DailyApiCalls>0<")
            #expect(after.text == kept)
            for (name, status) in [("BreakingNews", 200), ("sports", 200), ("gone", 404)] {
                let read = try await RawClient.call(
                    second.port, "GET", "/\(name)/registrations/1-2-3", headers: [token])
                #expect(read.status == status, "\(name)")
            }
            // A deleted hub that is created again is empty.
            _ = try await RawClient.call(second.port, "PUT", "/gone", headers: [token], body: Self.description)
            await second.stop()
            let third = try await HubServer(settings).start()
            let read = try await RawClient.call(third.port, "GET", "/gone/registrations/1-2-3", headers: [token])
            #expect(read.status == 404)
            await third.stop()
        }
    }

    /// Starts a hub with a store, runs this SQL on the store, and returns the problem of a restart under the name.
    private static func problem(
        _ sql: String, name: String = "BreakingNews", in directory: URL
    ) async throws -> HubServerProblem? {
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.storePath = directory.appending(path: "hub-\(UInt64.random(in: 0 ... .max)).sqlite").path
        await (try await HubServer(settings).start()).stop()
        let queue = try DatabaseQueue(path: settings.storePath ?? "")
        try await queue.write { try $0.execute(sql: sql) }
        try queue.close()
        settings.hubName = try HubName(name)
        do throws(HubServerProblem) {
            _ = try HubServer(settings)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: ["", "BreakingNews", "sports"])
    func `a hub with an unreadable description is reported at start, not skipped`(name: String) async throws {
        try await Self.withDirectory { directory in
            let problem = try await Self.problem(
                "INSERT OR REPLACE INTO hubs (name, description) VALUES ('\(name)', '<hub/>')", in: directory)
            guard case .store(_, let reason, let remedy)? = problem else {
                Issue.record("\(String(describing: problem))")
                return
            }
            let whose = name.isEmpty ? "of the namespace" : "of its hub \(name)"
            #expect(reason == "the description \(whose) cannot be read")
            #expect(remedy == "restore the file as it was, or choose another file with --store")
        }
    }

    /// Adds hubs up to the limit.
    private static let full = """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99)
        INSERT INTO hubs (name, description) SELECT 'h' || i, description FROM n, hubs WHERE name = 'BreakingNews'
        """

    @Test
    func `a file at the limit of hubs does not start with another hub`() async throws {
        try await Self.withDirectory { directory in
            for name in ["BreakingNews", "H7"] {
                let problem = try await Self.problem(Self.full, name: name, in: directory)
                #expect(problem == nil, "\(name)")
            }
            let problem = try await Self.problem(Self.full, name: "other", in: directory)
            guard case .store(_, let reason, let remedy)? = problem else {
                Issue.record("\(String(describing: problem))")
                return
            }
            #expect(reason == "it holds 100 hubs, and other would be one more than a namespace may have")
            #expect(remedy == "start with the name of one of them, or choose another file with --store")
        }
    }

    @Test
    func `a hub with a reserved name is not read from the file`() async throws {
        try await Self.withDirectory { directory in
            let problem = try await Self.problem(
                "INSERT INTO hubs (name, description) SELECT '_x', description FROM hubs LIMIT 1", in: directory)
            guard case .store(_, let reason, _)? = problem else {
                Issue.record("\(String(describing: problem))")
                return
            }
            #expect(reason == "its hub _x has a name of the emulator's own, which begins with '_'")
        }
    }

    @Test(arguments: ["_", "_storage", "_emulator", "_x"])
    func `a hub cannot have a reserved name`(name: String) throws {
        let settings = HubServerSettings(port: 0, hubName: try HubName(name))
        #expect(
            throws: HubServerProblem.settings([
                "The hub's name must not begin with '_': such names are the emulator's own. Choose another, such as "
                    + "breaking-news."
            ])
        ) { try HubServer(settings) }
    }

    /// Each hub numbers its own deliveries. A reader that reconnects sends the last number it saw.
    @Test
    func `a stream has the deliveries of one hub and continues after the last one seen`() async throws {
        try await withVectorHub { hub in
            let token = try Self.rootToken(hub)
            let made = try await RawClient.call(
                hub.port, "PUT", "/sports?api-version=2017-04", headers: [token], body: Self.description)
            #expect(made.status == 201)
            let send = [token, ("ServiceBusNotification-Format", "apple"), ("Content-Type", "application/json")]
            for name in ["BreakingNews", "sports"] {
                let put = try await RawClient.call(
                    hub.port, "PUT", "/\(name)/registrations/1-2-3", headers: [token], body: Self.registration)
                #expect(put.status == 200)
            }
            for (name, text) in [("sports", "a"), ("sports", "b"), ("BreakingNews", "c"), ("BreakingNews", "d")] {
                let sent = try await RawClient.call(
                    hub.port, "POST", "/\(name)/messages", headers: send, body: #"{"aps":{"alert":"\#(text)"}}"#)
                #expect(sent.status == 201)
            }
            for (query, last, wanted) in [
                ("", 0, ["c", "d"]), ("", 1, ["d"]), ("hub=SPORTS&", 0, ["a", "b"]), ("hub=sports&", 1, ["b"]),
            ] {
                var seen: [String] = []
                let all: [String] = try await RawClient.events(
                    hub.port, "/_emulator/stream?\(query)handle=CC", after: last
                ) { event in
                    seen.append(event.firstMatch(of: /alert\W+(\w)/).map { String($0.1) } ?? event)
                    return seen.count == wanted.count ? seen : nil
                }
                #expect(all == wanted, "\(query)\(last)")
            }
            let none = try await RawClient.call(hub.port, "GET", "/_emulator/stream?hub=none&handle=CC")
            #expect(none.status == 404)
        }
    }

    /// Creates a store in the former format for a single hub.
    private static func oldStore(_ path: String) throws {
        let queue = try DatabaseQueue(path: path)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
                    CREATE TABLE registrations (
                        id TEXT PRIMARY KEY, etag INTEGER NOT NULL, entry BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE installations (id TEXT PRIMARY KEY, json BLOB NOT NULL) WITHOUT ROWID;
                    CREATE TABLE messages (number INTEGER PRIMARY KEY, json BLOB NOT NULL);
                    CREATE TABLE rules (position INTEGER PRIMARY KEY, name TEXT NOT NULL, rights INTEGER NOT NULL,
                        primaryKey TEXT NOT NULL, secondaryKey TEXT);
                    """)
            try database.execute(
                sql: "INSERT INTO registrations VALUES ('1-2-3', 4, ?)", arguments: [Data(registration.utf8)])
            let installation = #"{"platform":"gcm","pushChannel":"g","tags":["World"]}"#
            try database.execute(sql: "INSERT INTO installations VALUES ('i', ?)", arguments: [Data(installation.utf8)])
            let rule = "DefaultFullSharedAccessSignature"
            try database.execute(sql: "INSERT INTO rules VALUES (0, ?, 7, 'kept', 'other')", arguments: [rule])
        }
        try migrator.migrate(queue)
        try queue.close()
    }

    @Test
    func `a store in the format for a single hub is migrated`() async throws {
        try await Self.withDirectory { directory in
            var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
            settings.storePath = directory.appending(path: "hub.sqlite").path
            try Self.oldStore(settings.storePath ?? "")
            let hub = try await HubServer(settings).start()
            #expect(hub.connectionString.key == AccessKey("kept"))
            #expect(hub.registrationCount == 2)
            let read = try await RawClient.call(
                hub.port, "GET", "/BreakingNews/registrations/1-2-3", headers: [try token(hub)])
            #expect(read.text.contains("<ETag>4</ETag>"))
            await hub.stop()
            // Another name is another hub. The old one still exists.
            settings.hubName = try HubName("other")
            let other = try await HubServer(settings).start()
            #expect(other.registrationCount == 0)
            let kept = try await RawClient.call(
                other.port, "GET", "/BreakingNews/registrations/1-2-3", headers: [try Self.rootToken(other)])
            #expect(kept.status == 200)
            await other.stop()
        }
    }
}
