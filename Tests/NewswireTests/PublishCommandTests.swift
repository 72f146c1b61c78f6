import Backfill
import Foundation
import KafkaIO
import NewswireCommands
import Testing

/// `newswire publish` as its users see it.
struct PublishCommandTests {
    private func events(_ numbers: ClosedRange<Int>, _ name: String = "") -> String {
        numbers.map { "{\"id\":\"\(name)\($0)\",\"headline\":\"h\"}\n" }.joined()
    }

    private func count(_ room: ProgramRoom) throws -> Int {
        let reader = try TopicReader(settings: room.broker.settings(group: "g"), topic: "news.events")
        var count = 0
        while !reader.isAtEnd { count += try reader.next().count }
        return count
    }

    private func progress(_ room: ProgramRoom) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: room.folder.path)
            .filter { $0.hasSuffix(".newswire-progress") }.sorted()
    }

    /// Starts a command on files, the last of which is a pipe that stays open without data.
    private func startWaiting(_ room: ProgramRoom, _ files: String...) throws -> (Program.Running, FileHandle) {
        #expect(mkfifo(room.path("pipe"), 0o600) == 0)
        let pipe = try #require(FileHandle(forUpdatingAtPath: room.path("pipe")))
        let paths = files.map(room.path) + [room.path("pipe")]
        let running = try Program.start(
            ["publish", "--config", room.path("newswire.yaml"), "--max-bad", "9"] + paths,
            environment: room.environment)
        return (running, pipe)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `an interruption in the second file does not repeat the first`(signal: Int32) async throws {
        let room = try await ProgramRoom()
        try room.write(events(1...5) + "bad\n", to: "a.ndjson")
        let (running, pipe) = try startWaiting(room, "a.ndjson")
        // A pipe keeps no progress. The report of its bad line shows that it is being read.
        try pipe.write(contentsOf: Data("{\"id\":\"p\",\"headline\":\"h\"}\nbad\n".utf8))
        try await running.wrote("pipe:2: ")
        running.signal(signal)
        let ended = try await running.ended()
        #expect(ended.status == 1, "\(ended.errors)")
        #expect(ended.errors.contains("interrupted: waiting at most 10 s for the broker"))
        #expect(ended.errors.contains("pipe: interrupted with 1 event on the topic; no position is kept"))
        #expect(try progress(room) == ["a.ndjson.newswire-progress"])
        try pipe.close()

        try room.write(events(1...2, "b"), to: "b.ndjson")
        let again = try await room.run("publish", "--max-bad", "1", room.path("a.ndjson"), room.path("b.ndjson"))
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.errors.contains("a.ndjson: 5 events were published by an earlier command"))
        #expect(try count(room) == 5 + 1 + 2)
        #expect(try progress(room) == [])
        await room.close()
    }

    @Test func `an error in the second file does not repeat the first`() async throws {
        let room = try await ProgramRoom()
        try room.write(events(1...5), to: "a.ndjson")
        try room.write("[{\"id\":\"6\",\"headline\":\"h\"},\n{\"id\":\"7\",", to: "b.json")
        let files = [room.path("a.ndjson"), room.path("b.json")]
        let failed = try await room.run("publish", files[0], files[1])
        #expect(failed.status == 1)
        #expect(failed.errors.contains("error: \(files[1]):2: the file ends in the middle of this event"))
        #expect(failed.output.hasPrefix("published 6 events to news.events"))
        try room.write("[{\"id\":\"6\",\"headline\":\"h\"},\n{\"id\":\"7\",\"headline\":\"h\"}]", to: "b.json")
        let again = try await room.run("publish", files[0], files[1])
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasPrefix("published 1 event to news.events"))
        #expect(try count(room) == 7)
        #expect(try progress(room) == [])
        await room.close()
    }

    private func news(_ items: String...) -> String {
        let items = items.enumerated().map { "<newsItem guid=\"urn:\($0 + 1)\">\($1)</newsItem>\n" }.joined()
        return
            "<newsMessage xmlns=\"http://iptc.org/std/nar/2006-10-01/\"><itemSet>\n\(items)</itemSet></newsMessage>\n"
    }

    @Test func `a NewsML-G2 document is published item by item, and a mended item alone by the same command`()
        async throws
    {
        let room = try await ProgramRoom()
        let headline = "<contentMeta><headline>h</headline></contentMeta>"
        try room.write(news(headline, "", headline), to: "a.xml")
        let failed = try await room.run("publish", room.path("a.xml"))
        #expect(failed.status == 1)
        #expect(failed.errors.contains("a.xml:1: urn:2: it has no headline"))
        #expect(failed.output.hasPrefix("published 2 events to news.events"))
        try room.write(news(headline, headline, headline), to: "a.xml")
        let again = try await room.run("publish", room.path("a.xml"))
        #expect(again.status == 0, "\(again.errors)")
        #expect(again.output.hasPrefix("published 1 event to news.events"))
        #expect(try count(room) == 3)
        #expect(try progress(room) == [])
        await room.close()
    }

    @Test func `a NITF document comes in by standard input, and a feed is refused`() async throws {
        let room = try await ProgramRoom()
        let document = #"<nitf><head><title>T</title><docdata><doc-id id-string="d"/></docdata></head></nitf>"#
        let published = try await room.run("publish", "-", input: document)
        #expect(published.status == 0, "\(published.errors)")
        #expect(try count(room) == 1)
        let refused = try await room.run(
            "publish", "-", input: #"<rss version="2.0"><channel><title>x</title></channel></rss>"#)
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains(
                "standard input:1: the document is RSS 2.0, a feed; `newswire ingest` follows feeds"))
        await room.close()
    }

    @Test func `nothing is sent if the position cannot be kept, or if a file is missing`() async throws {
        let room = try await ProgramRoom()
        try room.write(events(1...5), to: "a.ndjson")
        try room.write(events(1...5), to: "b.ndjson")
        // A folder in the place of the file cannot be written, even by a user who may write everywhere.
        try FileManager.default.createDirectory(
            at: room.folder.appending(path: "b.ndjson.newswire-progress"), withIntermediateDirectories: false)
        let unwritable = try await room.run("publish", room.path("a.ndjson"), room.path("b.ndjson"))
        #expect(unwritable.status == 1)
        #expect(unwritable.errors.contains("nothing was published: see that its folder is writable"))
        let missing = try await room.run("publish", room.path("a.ndjson"), room.path("absent"))
        #expect(missing.status == 1)
        #expect(missing.errors == "error: \(room.path("absent")): there is no such file\n")
        #expect(try count(room) == 0)
        #expect(try progress(room) == ["b.ndjson.newswire-progress"])
        let without = try await room.run("publish", "--no-resume", room.path("a.ndjson"), room.path("b.ndjson"))
        #expect(without.status == 0, "\(without.errors)")
        #expect(try count(room) == 10)
        await room.close()
    }

    @Test(arguments: [true, false])
    func `a file that was published before its topic was made again is refused until its position is removed`(
        isShorter: Bool
    ) async throws {
        let room = try await ProgramRoom(topics: [("news.events", 1)])
        #expect(try await room.run("publish", "-", input: events(9...9)).status == 0)
        try room.write(events(1...3) + "bad\n", to: "a.ndjson")
        #expect(try await room.run("publish", room.path("a.ndjson")).status == 1)
        do {
            let file = try ProgressFile(for: room.path("a.ndjson"))
            var progress = try #require(file.earlier)
            #expect(progress.stored == .init(partition: 0, offset: 3))
            // The broker cannot delete a topic, so the progress names a place that the topic never had, or another run's.
            progress.stored = .init(partition: 0, offset: isShorter ? 4 : 0)
            try file.save(progress)
        }
        let refused = try await room.run("publish", "--max-bad", "1", room.path("a.ndjson"))
        #expect(refused.status == 1)
        #expect(
            refused.errors.contains(
                "a.ndjson: 3 events were published to news.events before that topic was deleted and made again"),
            "\(refused.errors)")
        #expect(try count(room) == 4)
        #expect(try progress(room) == ["a.ndjson.newswire-progress"])
        try FileManager.default.removeItem(atPath: room.path("a.ndjson.newswire-progress"))
        #expect(try await room.run("publish", "--max-bad", "1", room.path("a.ndjson")).status == 0)
        #expect(try count(room) == 7)
        await room.close()
    }

    @Test func `a file that another command publishes is refused`() async throws {
        let room = try await ProgramRoom()
        try room.write(events(1...5) + "bad\n", to: "a.ndjson")
        let (running, pipe) = try startWaiting(room, "a.ndjson")
        try pipe.write(contentsOf: Data("{\"id\":\"p\",\"headline\":\"h\"}\nbad\n".utf8))
        try await running.wrote("pipe:2: ")
        let second = try await room.run("publish", room.path("a.ndjson"))
        #expect(second.status == 1)
        #expect(second.errors.contains("a.ndjson: is being published by another command"))
        try pipe.close()
        let ended = try await running.ended()
        #expect(ended.status == 0, "\(ended.errors)")
        #expect(try count(room) == 6)
        await room.close()
    }

    @Test func `more bad lines than allowed are a failure, and mending them publishes only them`() async throws {
        let room = try await ProgramRoom()
        try room.write(events(1...1) + "bad\nbad\n", to: "e.ndjson")
        let failed = try await room.run("publish", "--max-bad", "1", room.path("e.ndjson"))
        #expect(failed.status == 1)
        #expect(failed.errors.contains("2 bad lines: more than --max-bad 1 allows; mend them and run the same command"))
        let allowed = try await room.run("publish", "--max-bad", "2", room.path("e.ndjson"))
        #expect(allowed.status == 0, "\(allowed.errors)")
        #expect(try count(room) == 1)
        #expect(try progress(room) == [])
        let input = try await room.run("publish", "-", input: events(1...1) + "bad\n")
        #expect(input.errors.hasSuffix("1 bad line: more than --max-bad 0 allows\n"))
        await room.close()
    }

    @Test func `a repeated file, an unknown lane and an unknown category are wrong usage`() async throws {
        let room = try await ProgramRoom()
        try room.write("{}", to: "e.ndjson")
        let twice = try await room.run("publish", room.path("e.ndjson"), room.path("./e.ndjson"))
        #expect(twice.status == 64)
        #expect(twice.errors.contains("is given twice") && twice.errors.contains("Usage: newswire publish"))
        for arguments in [["publish", "--lane", "nope", room.path("e.ndjson")], ["redrive", "--lane", "nope"]] {
            let lane = try await Program.run(
                arguments + ["--config", room.path("newswire.yaml")], environment: room.environment)
            #expect(lane.status == 64)
            #expect(lane.errors == "Error: 'nope' is not a lane of the configuration. Known: live.\n")
        }
        let category = try await room.run("send", "--category", "Wrold", "--message", "m")
        #expect(category.status == 64)
        #expect(
            category.errors == "Error: 'Wrold' is not a category of the configuration. Did you mean World? "
                + "Known: World, Politics, Business, Technology, Science, Sports.\n")
        await room.close()
    }

    @Test func `no text from a file or its name reaches the terminal as a command`() async throws {
        let room = try await ProgramRoom()
        try room.write("id,\u{1B}[2Jheadline\n1,2\n", to: "e\u{1B}[31m.csv")
        let header = try await room.run("publish", room.path("e\u{1B}[31m.csv"))
        #expect(header.status == 1)
        #expect(header.errors.contains("the column '[2Jheadline' is not a field of an event"))
        let missing = try await room.run("publish", room.path("x\u{1B}]0;y\u{7}"))
        let twice = try await room.run("publish", "\u{1B}c", "\u{1B}c")
        for ended in [header, missing, twice] {
            #expect(!(ended.output + ended.errors).contains("\u{1B}"), "\(ended.errors.debugDescription)")
        }
        await room.close()
    }

    @Test(arguments: ["", " \n\n", "[]", "id,headline\n"])
    func `a file without events is a reported failure`(text: String) async throws {
        let room = try await ProgramRoom()
        try room.write(text, to: "e")
        let ended = try await room.run("publish", room.path("e"))
        #expect(ended.status == 1)
        #expect(ended.errors.contains("e: holds no events\n") || ended.errors.contains("e:1: there is no column"))
        #expect(try progress(room) == [])
        await room.close()
    }

    @Test func `a summary that cannot be written is a failure, and the same command publishes nothing twice`()
        async throws
    {
        let room = try await ProgramRoom()
        try room.write(events(1...3), to: "e.ndjson")
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = [
            "-c", "\"$0\" publish --config \"$1\" \"$2\" >/dev/full", Program.url.path, room.path("newswire.yaml"),
            room.path("e.ndjson"),
        ]
        shell.environment = room.environment
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            shell.terminationHandler = { _ in done.resume() }
            do { try shell.run() } catch { done.resume(throwing: error) }
        }
        #expect(shell.terminationStatus == 1)
        let again = try await room.run("publish", room.path("e.ndjson"))
        #expect(again.status == 0)
        #expect(again.output.hasPrefix("published 0 events"))
        #expect(try count(room) == 3)
        await room.close()
    }
}
