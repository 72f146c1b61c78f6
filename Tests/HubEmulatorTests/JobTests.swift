import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// Imports and exports of registrations, and the files that they read and write.
struct JobTests: BlobStorageSuite {
    private static func registration(_ id: String?, tag: String = "World", token: String = "AB12") -> String {
        let named = id.map { "<RegistrationId>\($0)</RegistrationId>" } ?? ""
        return
            "<AppleRegistrationDescription xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
            + "\(named)<Tags>\(tag)</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
    }

    /// Submits a job and runs it to its end.
    private func run(
        _ test: inout TestNamespace, _ kind: String, _ container: String, import lines: [String] = [], limit: Int = 2
    ) throws -> (job: XMLElement, output: String, failed: String) {
        let input = blob("Import.txt", in: container)
        _ = storage(&test, "PUT", input, headers: ["x-ms-blob-type": "BlockBlob"], body: lines.joined(separator: "\n"))
        let submitted = test.call(
            "POST", "/BreakingNews/jobs?api-version=2017-04", body: WireTable.job(kind, output: container, input: input)
        )
        #expect(submitted.status == 201, "\(submitted.text)")
        let location = try #require(submitted.headers["Location"])
        for _ in 0..<100 where test.namespace.hasWork(at: test.now) {
            _ = test.namespace.deliver(limit: limit, at: test.now)
        }
        #expect(!test.namespace.hasWork(at: test.now))
        let read = test.call("GET", String(location.dropFirst("http://news.example".count)))
        let job = try #require(try XMLReader.read(read.body).child("content")?.child("NotificationHubJob"))
        let id = try #require(job.child("JobId")?.text)
        let files = ["Output.txt", "Failed.txt"].map { name in
            storage(&test, "GET", blob("BreakingNews/\(id)/\(name)", in: container)).text
        }
        return (job, files[0], files[1])
    }

    @Test
    func `an export writes one registration per line`() throws {
        var (test, container) = try prepared()
        let (job, output, failed) = try run(&test, "ExportRegistrations", container, limit: 1)
        #expect(job.child("Status")?.text == "Completed" && job.child("Progress")?.text == "100")
        let id = try #require(job.child("JobId")?.text)
        let properties = job.child("OutputProperties")?.elements.map { $0.elements.map(\.text) }
        #expect(
            properties == [
                ["OutputFilePath", "/BreakingNews/\(id)/Output.txt"],
                ["FailedFilePath", "/BreakingNews/\(id)/Failed.txt"],
            ])
        #expect(
            job.elements.map(\.localName) == [
                "JobId", "Progress", "Type", "Status", "OutputContainerUri", "ImportFileUri", "OutputProperties",
                "CreatedAt", "UpdatedAt",
            ])
        let lines = output.split(separator: "\n")
        let ids = try lines.map { try XMLReader.read(Array($0.utf8)).child("RegistrationId")?.text }
        #expect(ids == ["1-2-3", "1-2-4"] && failed.isEmpty)
    }

    @Test
    func `an export can be imported into another hub`() throws {
        var (test, container) = try prepared()
        let template =
            "<Tags>World</Tags><DeviceToken>CD34</DeviceToken><BodyTemplate>{\n\"a\":\r\n\"{'x ]]&gt; ' + $(m)}\"}</BodyTemplate>"
        _ = test.call(
            "PUT", "/BreakingNews/registrations/1-2-5",
            body: WireTable.entry("AppleTemplate", template))
        let (_, output, _) = try run(&test, "ExportRegistrations", container)
        for id in ["1-2-3", "1-2-4", "1-2-5"] {
            _ = test.call("DELETE", "/BreakingNews/registrations/\(id)", headers: ["If-Match": "*"])
        }
        let lines = output.split(separator: "\n").map { String($0) }
        let (job, upserted, failed) = try run(&test, "ImportUpsertRegistrations", container, import: lines)
        #expect(job.child("Status")?.text == "Completed" && failed.isEmpty, "\(failed)")
        #expect(upserted.split(separator: "\n").count == 3)
        #expect(test.namespace.withFirst { $0.registrationCount } == 3)
    }

    private static let imports: [(String, [String], succeeded: [Int], failed: [Int], registrations: Int)] = [
        ("ImportCreateRegistrations", [registration(nil), registration("1-2-3"), "<nonsense/>"], [1, 2], [3], 4),
        ("ImportUpdateRegistrations", [registration("1-2-3", tag: "Sports"), registration("9-9-9")], [1], [2], 2),
        ("ImportDeleteRegistrations", [registration("1-2-3"), "", registration("1-2-3"), "x"], [1], [3, 4], 1),
        (
            "ImportUpsertRegistrations",
            [registration("1-2-3"), registration("7-7-7"), registration(nil), registration("a"), "{}", "\u{0}"],
            [1, 2], [3, 4, 5], 3
        ),
        ("ImportCreateRegistrations", [], [], [], 2),
        ("ImportCreateRegistrations", [registration(nil, token: "XYZ"), registration(nil, tag: "$x")], [], [1, 2], 2),
    ]

    @Test(arguments: imports)
    func `an import does what its kind requires, and lists the lines that failed`(
        kind: String, lines: [String], succeeded: [Int], failed: [Int], registrations: Int
    ) throws {
        var (test, container) = try prepared()
        let result = try run(&test, kind, container, import: lines)
        let numbers = { (text: String) in text.split(separator: "\n").compactMap { Int($0.prefix { $0 != "," }) } }
        #expect(result.job.child("Status")?.text == "Completed")
        #expect(numbers(result.output) == succeeded)
        #expect(numbers(result.failed) == failed, "\(result.failed)")
        #expect(test.namespace.withFirst { $0.registrationCount } == registrations)
    }

    @Test
    func `an updated registration has its new tags and the next etag`() throws {
        var (test, container) = try prepared()
        _ = try run(
            &test, "ImportUpdateRegistrations", container, import: [Self.registration("1-2-3", tag: "Sports")])
        let read = test.call("GET", "/BreakingNews/registrations/1-2-3").text
        #expect(read.contains("<ETag>2</ETag>") && read.contains("<Tags>Sports</Tags>"))
    }

    @Test
    func `one turn of a job is bounded by bytes`() throws {
        var (test, container) = try prepared()
        // Each template is 2 KB, each line of the import 20 KB.
        for number in 0..<100 {
            let template = "{\"a\":\"\(String(repeating: "x", count: 2000))\"}"
            _ = test.call(
                "PUT", "/BreakingNews/registrations/2-\(number)-3",
                body: WireTable.entry(
                    "AppleTemplate", "<DeviceToken>AB</DeviceToken><BodyTemplate>\(template)</BodyTemplate>"))
        }
        let input = blob("Import.txt", in: container)
        let lines = (0..<20).map { "<a\($0)>" + String(repeating: "x", count: 20_000) }
        _ = storage(&test, "PUT", input, body: lines.joined(separator: "\n"))
        for (kind, turns) in [("ImportCreateRegistrations", 5...7), ("ExportRegistrations", 3...5)] {
            let job = WireTable.job(kind, output: container, input: input)
            #expect(test.call("POST", "/BreakingNews/jobs", body: job).status == 201)
            var taken = 0
            while test.namespace.hasWork(at: test.now), taken < 100 {
                _ = test.namespace.deliver(limit: 256, at: test.now)
                taken += 1
            }
            #expect(turns.contains(taken), "\(kind) took \(taken) turns")
        }
        let exported = test.namespace.blobs.all.filter { $0.name.hasSuffix("Output.txt") }.map(\.blob.bytes)
        #expect(exported.map { $0.count { $0 == UInt8(ascii: "\n") } }.max() == 102)
    }

    @Test
    func `a job fails when its addresses are not the emulator's or do not allow it`() throws {
        var (test, container) = try prepared()
        let expires = test.now.advanced(byMilliseconds: 1000)
        let readable = StorageGrant(container: "jobs", permissions: "rl", expires: expires)
            .url(base: "http://news.example", key: test.namespace.storageKey)
        let wrong = [
            ("https://account.blob.core.windows.net/c?sig=x", nil), (readable, nil), ("nonsense", nil),
            (container.replacing("sig=", with: "sig=A"), nil), (container, "https://elsewhere.example/Import.txt"),
            (container, blob("missing.txt", in: container)), (container, container),
        ]
        for (output, input) in wrong {
            let kind = input == nil ? "ExportRegistrations" : "ImportCreateRegistrations"
            let submitted = test.call(
                "POST", "/BreakingNews/jobs", body: WireTable.job(kind, output: output, input: input))
            #expect(submitted.status == 201)
            _ = test.namespace.deliver(limit: 10, at: test.now)
            let id = try #require(try XMLReader.read(submitted.body).child("title")?.text)
            let job = test.call("GET", "/BreakingNews/jobs/\(id)").text
            #expect(job.contains("<Status>Failed</Status>") && job.contains("<Failure>"), "\(output)")
        }
        #expect(!test.namespace.hasWork(at: test.now))
    }

    @Test(arguments: [
        ("http://news.example", true), ("http://NEWS.example:80", true), ("https://news.example:80", true),
        ("http://news.example.evil", false), ("http://evil.example", false), ("http://news.example:8080", false),
        ("https://news.example", false), ("http://news.example@evil.example", false),
        ("http://evil.example#news.example", false), ("ftp://news.example", false), ("http://localhost", false),
    ])
    func `a job does not mistake another host's file for one of this emulator`(base: String, completes: Bool) throws {
        for foreign in ["input", "output"] {
            var (test, container) = try prepared()
            let input = blob("Import.txt", in: container)
            #expect(storage(&test, "PUT", input, body: Self.registration(nil)).status == 201)
            let moved = { (url: String) in url.replacing("http://news.example", with: base) }
            let job = WireTable.job(
                "ImportCreateRegistrations", output: foreign == "output" ? moved(container) : container,
                input: foreign == "input" ? moved(input) : input)
            let submitted = test.call("POST", "/BreakingNews/jobs", body: job)
            while test.namespace.hasWork(at: test.now) { _ = test.namespace.deliver(limit: 10, at: test.now) }
            let id = try #require(try XMLReader.read(submitted.body).child("title")?.text)
            let read = test.call("GET", "/BreakingNews/jobs/\(id)").text
            #expect(read.contains("<Status>\(completes ? "Completed" : "Failed")</Status>"), "\(foreign): \(read)")
            #expect(test.namespace.withFirst { $0.registrationCount } == (completes ? 3 : 2))
        }
    }

    @Test(arguments: [
        ("localhost:8090", "http://127.0.0.1:8090/x", true), ("[::1]:8090", "http://localhost:8090", true),
        ("127.0.0.1:8090", "http://localhost:10000/x", false), ("hub:8090", "http://hub:8090?x", true),
        ("hub:8090", "http://hub/x", false), ("hub", "http://127.evil.example/x", false), ("hub", "hub/x", false),
    ])
    func `the names of the loopback interface are one host`(host: String, url: String, isSame: Bool) throws {
        let request = HubHTTPRequest(method: "POST", target: "/", headers: ["Host": host])
        let here = try #require(StorageHost(request))
        #expect((StorageHost(url: url) == here) == isSame)
    }

    private static let refused: [(String, Int)] = [
        ("", 400), ("<entry/>", 400), (WireTable.job("Import", output: "http://a/b"), 400),
        (WireTable.job("ImportCreateRegistrations", output: "http://a/b"), 400),
        (WireTable.job("ExportRegistrations", output: ""), 400),
        (WireTable.job("ExportRegistrations", output: String(repeating: "x", count: 5000)), 400),
    ]

    @Test(arguments: refused)
    func `an invalid job is refused`(body: String, status: Int) throws {
        var test = try TestNamespace()
        #expect(test.call("POST", "/BreakingNews/jobs", body: body).status == status)
    }

    @Test
    func `jobs are listed, and their number is bounded`() throws {
        var (test, container) = try prepared()
        let submit = { (test: inout TestNamespace) in
            test.call("POST", "/BreakingNews/jobs", body: WireTable.job("ExportRegistrations", output: container))
                .status
        }
        let statuses = (1...11).map { _ in submit(&test) }
        #expect(statuses.dropLast().allSatisfy { $0 == 201 } && statuses.last == 403)
        for _ in 1...120 {
            for _ in 0..<30 { _ = test.namespace.deliver(limit: 10, at: test.now) }
            #expect(submit(&test) == 201)
        }
        let feed = try XMLReader.read(test.call("GET", "/BreakingNews/jobs?api-version=2017-04").body)
        #expect(feed.elements.count { $0.localName == "entry" } == EmulatedHub.jobsMax)
    }

    @Test
    func `jobs and feedback need the Standard tier and Manage`() throws {
        var test = try TestNamespace { $0.tier = .basic }
        for (method, path) in [("GET", "/jobs"), ("POST", "/jobs"), ("GET", "/jobs/x"), ("GET", "/feedbackcontainer")] {
            #expect(test.call(method, "/BreakingNews" + path).status == 403)
            let reply = test.call(method, "/BreakingNews" + path, rule: "SendOnly", key: TestHub.key)
            #expect(reply.status == 403 && reply.body.isEmpty)
        }
    }
}
