import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// Imports and exports of registrations, and the files that they read and write.
struct JobTests {
    private static func registration(_ id: String?, tag: String = "World", token: String = "AB12") -> String {
        let named = id.map { "<RegistrationId>\($0)</RegistrationId>" } ?? ""
        return
            "<AppleRegistrationDescription xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
            + "\(named)<Tags>\(tag)</Tags><DeviceToken>\(token)</DeviceToken></AppleRegistrationDescription>"
    }

    /// A namespace with two registrations, and the address of its container.
    private func prepared() throws -> (TestNamespace, container: String) {
        var test = try TestNamespace()
        for id in ["1-2-3", "1-2-4"] {
            _ = test.call("PUT", "/BreakingNews/registrations/\(id)", body: WireTable.apple)
        }
        let expires = test.now.advanced(byMilliseconds: 3_600_000)
        return (test, test.namespace.jobsContainerURL(base: "http://news.example", until: expires))
    }

    /// The address of a blob in a container.
    private func blob(_ name: String, in container: String) -> String {
        container.replacing("?", with: "/\(name)?", maxReplacements: 1)
    }

    /// Makes a storage client's call, with no credentials except the address.
    private func storage(
        _ test: inout TestNamespace, _ method: String, _ url: String, headers: HubHeaders = [:], body: String = ""
    ) -> HubHTTPResponse {
        var fields = headers
        fields.append("Host", "news.example")
        return test.namespace.handle(
            HubHTTPRequest(
                method: method, target: String(url.dropFirst("http://news.example".count)), headers: fields,
                body: Array(body.utf8)), at: test.now)
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

    // MARK: Storage

    @Test
    func `blobs are put, listed, read in parts and deleted`() throws {
        var (test, container) = try prepared()
        let put = { (test: inout TestNamespace, name: String, headers: HubHeaders) in
            self.storage(&test, "PUT", self.blob(name, in: container), headers: headers, body: "0123456789").status
        }
        #expect(put(&test, "a/b%20c.txt", ["x-ms-blob-type": "BlockBlob"]) == 201)
        #expect(put(&test, "a/b%20c.txt", ["If-None-Match": "*"]) == 409)
        #expect(put(&test, "d", ["x-ms-blob-type": "PageBlob"]) == 400)
        #expect(put(&test, "d", [:]) == 201)
        let list = { (test: inout TestNamespace, query: String) in
            try XMLReader.read(self.storage(&test, "GET", container + "&restype=container&comp=list" + query).body)
        }
        let names = { (list: XMLElement) in list.child("Blobs")?.elements.map { $0.child("Name")?.text } }
        #expect(names(try list(&test, "")) == ["a/b c.txt", "d"])
        #expect(names(try list(&test, "&prefix=a/")) == ["a/b c.txt"])
        let first = try list(&test, "&maxresults=1")
        #expect(names(first) == ["a/b c.txt"] && first.child("NextMarker")?.text == "d")
        #expect(names(try list(&test, "&marker=d")) == ["d"])
        let read = { (test: inout TestNamespace, range: String) in
            self.storage(&test, "GET", self.blob("d", in: container), headers: ["x-ms-range": range])
        }
        let part = read(&test, "bytes=2-4")
        #expect(part.status == 206 && part.text == "234" && part.headers["Content-Range"] == "bytes 2-4/10")
        #expect(read(&test, "bytes=8-").text == "89" && read(&test, "bytes=0-99999999999").text == "0123456789")
        for range in ["bytes=10-", "bytes=4-2", "bytes=-3", "bytes=a-b", "lines=1-2", "bytes=99999999999999999999-"] {
            #expect(read(&test, range).status == 416, "\(range)")
        }
        #expect(storage(&test, "DELETE", blob("d", in: container)).status == 202)
        #expect(storage(&test, "GET", blob("d", in: container)).headers["x-ms-error-code"] == "BlobNotFound")
        #expect(storage(&test, "DELETE", blob("d", in: container)).status == 404)
    }

    @Test
    func `storage refuses unsupported calls in its own form`() throws {
        var (test, container) = try prepared()
        let copied = storage(&test, "PUT", blob("c", in: container), headers: ["x-ms-copy-source": "http://a/b"])
        #expect(copied.status == 501 && copied.headers["x-ms-error-code"] == "NotImplemented", "\(copied.text)")
        for name in ["%00", "a%0d%0ab", "%c2%85", "%ef%bf%bf"] {
            let reply = storage(&test, "PUT", blob(name, in: container), body: "x")
            #expect(reply.status == 400 && reply.headers["x-ms-error-code"] == "InvalidResourceName", "\(name)")
        }
        #expect(test.namespace.blobs.all.isEmpty)
        let listing = container + "&restype=container&comp=list&prefix="
        for (url, code) in [
            (listing + "%ff", "InvalidUri"), (blob("%ff", in: container), "InvalidUri"),
            (listing + "%00", "InvalidQueryParameterValue"),
        ] {
            let reply = storage(&test, "GET", url)
            #expect(reply.status == 400 && reply.headers["x-ms-error-code"] == code, "\(url): \(reply.text)")
        }
        // Below other paths the answer has the hub's form.
        #expect(test.call("GET", "/BreakingNews/registrations?a=%ff").headers["x-ms-error-code"] == nil)
    }

    @Test
    func `a signed address opens only what it names, until it expires`() throws {
        var (test, container) = try prepared()
        let key = test.namespace.storageKey
        let expires = test.now.advanced(byMilliseconds: 1000)
        _ = storage(&test, "PUT", blob("a", in: container), body: "x")
        _ = storage(&test, "PUT", blob("b", in: container), body: "x")
        let grant = { (blob: String?, permissions: String) in
            StorageGrant(container: "jobs", blob: blob, permissions: permissions, expires: expires)
                .url(base: "http://news.example", key: key)
        }
        let status = { (test: inout TestNamespace, method: String, url: String) in
            self.storage(&test, method, url).status
        }
        let one = grant("a", "r")
        #expect(status(&test, "GET", one) == 200)
        for (method, url) in [
            ("GET", one.replacing("/a?", with: "/b?")), ("PUT", one), ("DELETE", one),
            ("GET", one.replacing("sp=r", with: "sp=rw")), ("GET", one.replacing("sr=b", with: "sr=c")),
            ("GET", one.replacing("2027", with: "2099")), ("GET", String(one.prefix { $0 != "?" })),
            ("GET", one.replacing("sig=", with: "sig=A")),
            ("GET", grant(nil, "w") + "&restype=container&comp=list"),
        ] {
            #expect(status(&test, method, url) == 403, "\(method) \(url)")
        }
        test.now = expires
        #expect(status(&test, "GET", one) == 403)
    }

    @Test
    func `storage is bounded in blobs, bytes and names`() throws {
        var store = BlobStore()
        let put = { (store: inout BlobStore, name: String, bytes: [UInt8]) in
            store.put(bytes, contentType: "", as: name, at: TestHub.start)
        }
        let whole = [UInt8](repeating: 0, count: BlobStore.blobLengthMax)
        #expect(!put(&store, "a", whole + [0]))
        for name in ["a", "b", "c", "d"] { #expect(put(&store, name, whole)) }
        #expect(!put(&store, "e", [0]))
        #expect(put(&store, "a", []))
        #expect(put(&store, "e", [0]))
        #expect(!put(&store, String(repeating: "x", count: 1025), []))
        for number in 0..<BlobStore.countMax { _ = put(&store, "n\(number)", []) }
        #expect(store.all.count == BlobStore.countMax)
        for (name, _) in store.all { store.remove(name) }
        #expect(put(&store, "a", whole))
    }

    @Test
    func `only an address that permits writing allows a body longer than a send`() throws {
        var (test, container) = try prepared()
        let length = { (method: String, url: String) in
            test.namespace.bodyLengthMax(
                of: HubHTTPRequest(method: method, target: String(url.dropFirst("http://news.example".count))),
                at: test.now)
        }
        #expect(length("PUT", blob("a", in: container)) == BlobStore.blobLengthMax)
        #expect(length("POST", blob("a", in: container)) == SendRequest.bodyLengthMax)
        #expect(length("PUT", blob("a", in: container).replacing("sp=rc", with: "sp=r")) == SendRequest.bodyLengthMax)
        #expect(length("PUT", "http://news.example/BreakingNews") == SendRequest.bodyLengthMax)
    }

    // MARK: Feedback

    @Test
    func `dead handles are in their day's feedback, and all errors in the send's details`() throws {
        var (test, _) = try prepared()
        _ = test.call(
            "PUT", "/BreakingNews/installations/i", body: #"{"platform":"gcm","pushChannel":"g&1","tags":["World"]}"#)
        test.namespace.withFirst {
            $0.setOutcome(.expiredChannel, handle: "g&1")
            $0.setOutcome(.wrongToken, handle: "AB")
        }
        let ids = try ["gcm", "apple"].map { format in
            let sent = test.call(
                "POST", "/BreakingNews/messages?api-version=2020-06",
                headers: ["ServiceBusNotification-Format": format, "Content-Type": "application/json"], body: "{}")
            return try #require(sent.headers["Location"].flatMap { NotificationID.inLocation($0) })
        }
        _ = test.namespace.deliver(limit: 100, at: test.now)
        let reply = test.call("GET", "/BreakingNews/feedbackcontainer?api-version=2015-01")
        let container = reply.text
        #expect(reply.status == 200 && container.hasPrefix("http://news.example/_storage/"))
        let listed = try XMLReader.read(storage(&test, "GET", container + "&restype=container&comp=list").body)
        #expect(listed.child("Blobs")?.elements.map { $0.child("Name")?.text } == ["01152027"])
        let day = storage(&test, "GET", blob("01152027", in: container)).text
        let lines = day.split(separator: "\r\n")
        #expect(lines.count == 1)
        let feedback = try XMLReader.read(Array((lines.first ?? "").utf8))
        #expect(
            feedback.elements.map { "\($0.localName)=\($0.text)" } == [
                "FeedbackTime=2027-01-15T08:00:00.0000000Z", "NotificationSystemError=ExpiredChannel", "Platform=gcm",
                "PnsHandle=g&1", "RegistrationId=\(RegistrationID(of: "i", template: nil))", "InstallationId=i",
                "NotificationId=\(ids[0])",
            ])
        let details = { (test: inout TestNamespace, version: String) in
            try XMLReader.read(test.call("GET", "/BreakingNews/messages/\(ids[1])?api-version=\(version)").body)
                .child("PnsErrorDetailsUri")?.text
        }
        #expect(try details(&test, "2015-04") == nil)
        let uri = try #require(try details(&test, "2016-07"))
        let errors = storage(&test, "GET", uri).text.split(separator: "\r\n")
        #expect(errors.count == 1 && errors.allSatisfy { $0.contains("WrongToken") })
        // A feedback container is read-only.
        #expect(storage(&test, "PUT", blob("x", in: container), body: "x").status == 403)
    }
}
