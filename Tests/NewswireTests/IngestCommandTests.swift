import Foundation
import KafkaIO
import NewsModel
import TestSupport
import Testing

private let rss = """
    <rss version="2.0"><channel><title>World</title><language>en</language>
    <item><guid>a2</guid><title>Harbour &amp; port reopen</title><link>/a2</link><category>Politik</category></item>
    <item><guid>a1</guid><title>Old</title><link>https://example.org/a1</link><pubDate>Sun, 22 Nov 2020 15:50:00 GMT</pubDate></item>
    </channel></rss>
    """
private let atom = """
    <feed xmlns="http://www.w3.org/2005/Atom"><title>World</title><entry><id>urn:1</id><title>Storm</title>\
    <updated>2020-11-22T10:00:00Z</updated></entry></feed>
    """
private let jsonFeed = #"{"version":"https://jsonfeed.org/version/1.1","title":"W","items":[{"id":7,"title":"Rain"}]}"#

private let configuration = """
    kafka: {bootstrapServers: ["127.0.0.1:1"]}
    lanes: {live: {topics: [news.events]}}
    hub: {connectionString: "${NOT_SET_HERE}"}
    ingest:
      feeds:
        - {name: world, url: "https://example.org/world.xml", map: {politik: Politics}, default: World}
    """

struct ExplainFeedTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "explain-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    private func explain(_ text: String, name: String = "world.xml", _ more: String...) async throws -> Program.Ended {
        let file = folder.appending(path: name)
        try Data(text.utf8).write(to: file)
        return try await Program.run(["ingest", "--explain", file.path] + more)
    }

    private func objects(_ output: String) throws -> [[String: Any]] {
        try output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test(arguments: [(rss, ["world:a2", "world:a1"]), (atom, ["world:urn:1"]), (jsonFeed, ["world:7"])])
    func `a document of each format is explained without a configuration`(text: String, ids: [String]) async throws {
        let ended = try await explain(text, "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try objects(ended.output).map { $0["id"] as? String } == ids)
    }

    @Test func `a feed of the configuration is explained by its rules`() async throws {
        let file = folder.appending(path: "newswire.yaml")
        try Data(configuration.utf8).write(to: file)
        let ended = try await explain(rss, "--config", file.path, "--feed", "world", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let entries = try objects(ended.output)
        #expect(entries.map { $0["categories"] as? [String] } == [["Politics"], ["World"]])
        #expect(entries.first?["link"] as? String == "https://example.org/a2")
        #expect(entries.first?["headline"] as? String == "Harbour & port reopen")
        #expect(entries.map { $0["action"] as? String }.last == "stale")
        #expect(entries.first?["publishedAt"] == nil)
    }

    @Test func `items that cannot be read are explained, with --json too`() async throws {
        let items = #"[{"uri": "urn:1", "headline": "A"}, {"uri": "urn:2", "headline": "B", "urgency": "high"}"#
        let ended = try await explain(items, name: "wire.json", "--json")
        #expect(ended.status == 0, "\(ended.errors)")
        let found = try objects(ended.output)
        #expect(found.map { $0["id"] as? String } == ["wire:urn:1", "wire:urn:2"])
        #expect(found.map { $0["action"] as? String } == ["alert", "unreadable"])
        let text = try await explain(items, name: "wire.json").output
        for part in [
            "1 entry, cut off", "unreadable: the item cannot be read: wrong-type", "wire:urn:2 (from its id)",
        ] {
            #expect(text.contains(part), "\(part) is missing in \(text)")
        }
        let cutOff = try await explain("<rss><channel><item><guid>a</guid><title>New", "--json")
        #expect(try objects(cutOff.output).map { $0["action"] as? String } == ["unreadable"])
    }

    @Test func `the text explains the document and each entry`() async throws {
        let ended = try await explain(rss)
        for part in [
            "RSS 2.0, \"World\", 2 entries", "Harbour & port reopen", "world:a2 (from its id)",
            "no date that can be read",
        ] {
            #expect(ended.output.contains(part), "\(part) is missing in \(ended.output)")
        }
    }

    @Test func `each entry shows how the expression of identity finds it`() async throws {
        let file = folder.appending(path: "newswire.yaml")
        let identity = configuration.replacing("map:", with: #"identity: "regex:(?:a+)+([0-9])", map:"#)
        try Data(identity.utf8).write(to: file)
        let hard = String(repeating: "a", count: 30) + "b"
        let items = ["aa7", "urn:b", hard].map { "<item><guid>\($0)</guid><title>News of \($0)</title></item>" }
        let text = "<rss version=\"2.0\"><channel>\(items.joined())</channel></rss>"
        let ended = try await explain(text, "--config", file.path, "--feed", "world")
        for part in [
            "3 entries, 1 entry for which the expression of identity takes too many steps",
            "world:7 (by the expression of identity)",
            "world:urn:b (from its id; the expression of identity finds nothing)",
            "world:\(hard) (from its id; the expression of identity takes too many steps)",
        ] {
            #expect(ended.output.contains(part), "\(part) is missing in \(ended.output)\(ended.errors)")
        }
    }

    @Test func `a document that is not a feed ends with 1 and the reason`() async throws {
        let page = try await explain("<html><head><title>x</title></head></html>", name: "page.html")
        #expect(page.status == 1)
        #expect(page.output == "")
        #expect(page.errors.contains("web page"))
        let missing = try await Program.run(["ingest", "--explain", folder.appending(path: "nope").path])
        #expect(missing.status == 1)
        #expect(missing.errors.contains("does not exist"))
        let large = folder.appending(path: "large.xml")
        try Data(count: 15 << 20 + 1).write(to: large)
        let refused = try await Program.run(["ingest", "--explain", large.path])
        #expect(refused.status == 1)
        #expect(refused.errors.contains("larger than 15 MiB"))
    }

    @Test func `wrong usage and a wrong configuration have different exit codes`() async throws {
        #expect(try await Program.run(["ingest"]).status == 78)
        #expect(try await Program.run(["ingest", "--once", "--status", "--config", "x"]).status == 64)
        let one = try await Program.run(["ingest", "--feed", "world", "--config", "x"])
        #expect(one.status == 64 && one.errors.contains("--feed is for --once, --dry-run, --status and --explain"))
        #expect(try await Program.run(["ingest", "--config", folder.appending(path: "none.yaml").path]).status == 78)
        let file = folder.appending(path: "newswire.yaml")
        try Data(configuration.utf8).write(to: file)
        let secret = try await Program.run(["ingest", "--explain", "http://user:canary@127.0.0.1:9/x?key=canary"])
        #expect(secret.status == 1 && secret.errors.contains("http://127.0.0.1:9/x?…: name and password"))
        #expect(!secret.errors.contains("canary"))
        let other = try await Program.run(["ingest", "--explain", "ftp://user:canary@example.org/x?key=canary"])
        #expect(other.status == 1 && other.errors.contains("ftp://…: the file does not exist"))
        #expect(!other.errors.contains("canary"))
        let unknown = try await explain(rss, "--config", file.path, "--feed", "wrold")
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("Did you mean world?"))
    }
}

struct IngestOnceTests {
    private func document(_ entries: [(id: String, title: String)]) -> String {
        let now = Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
        let items = entries.map {
            "<entry><id>\($0.id)</id><title>\($0.title)</title><published>\(now)</published></entry>"
        }
        return #"<feed xmlns="http://www.w3.org/2005/Atom"><title>W</title>\#(items.joined())</feed>"#
    }

    @Test func `the backlog is not written, news is written once, and a rehearsal writes nothing`() async throws {
        let room = try await ProgramRoom(topics: ["news.events", "news.backfill", "news.feeds"].map { ($0, 2) })
        let publisher = try await ScriptedPublisher.start { request in
            if request.path == "/gone" { return .status(404) }
            let backlog = (id: "old", title: "Backlog")
            return .status(
                200, body: document(request.earlier == 0 ? [backlog] : [(id: "new", title: "News"), backlog]).utf8)
        }
        try room.write(
            """
            kafka:
              bootstrapServers: \(room.broker.bootstrapServers)
              properties: {fetch.wait.max.ms: 10, session.timeout.ms: 6000, heartbeat.interval.ms: 500}
            lanes: {live: {topics: [news.events]}, backfill: {topics: [news.backfill]}}
            ingest:
              feeds:
                - {name: world, url: "\(publisher.url("/world"))", allowPrivate: [127.0.0.1]}
            """, to: "feeds.yaml")
        func ingest(_ arguments: String...) async throws -> Program.Ended {
            try await Program.run(["ingest", "--config", room.path("feeds.yaml"), "--log-level", "error"] + arguments)
        }
        func replace(_ text: String, with other: String) throws {
            let yaml = try String(contentsOf: room.folder.appending(path: "feeds.yaml"), encoding: .utf8)
            try room.write(yaml.replacing(text, with: other), to: "feeds.yaml")
        }
        let first = try await ingest("--once")
        #expect(first.status == 0 && first.output.contains("polled 1 feed"), "\(first.output)\(first.errors)")
        let rehearsed = try await ingest("--dry-run", "--json")
        #expect(rehearsed.status == 0, "\(rehearsed.errors)")
        #expect(rehearsed.output.contains(#""key":"world:new","event":{"id":"world:new""#), "\(rehearsed.output)")
        for _ in 0..<2 { #expect(try await ingest("--once").status == 0) }
        var ids: [String] = []
        let reader = try TopicReader(settings: room.broker.settings(group: "test"), topic: "news.events")
        while !reader.isAtEnd {
            for read in try reader.next() { ids.append(String(decoding: read.record.key ?? [], as: UTF8.self)) }
        }
        #expect(ids == ["world:new"])
        let status = try await ingest("--status", "--json")
        #expect(status.output.contains(#""name":"world""#) && status.output.contains(#""state":"primed""#))

        try replace("/world", with: "/gone")
        let failed = try await ingest("--once")
        #expect(failed.status == 1)
        #expect(failed.errors.contains("error: feed world: nothing is at this address (404)"), "\(failed.errors)")
        try replace("[news.events]", with: "[news.nowhere]")
        let homeless = try await ingest("--once")
        #expect(homeless.status == 1)
        #expect(homeless.errors.contains("Topic news.nowhere does not exist"), "\(homeless.errors)")
        await publisher.stop()
        await room.close()
    }
}
