import FeedIO
import Feeds
import NIOCore
import NewsModel
import TestSupport
import Testing

struct FetcherTests {
    @Test func `a document comes with its hash and the headers that matter`() async throws {
        try await withPublisher {
            _ in
            .status(
                200,
                [
                    ("ETag", "W/\"1\""), ("Cache-Control", "max-age=60"), ("Set-Cookie", "a=b"),
                    ("LINK", "<x>; rel=hub"),
                ],
                body: Array(smallFeed.utf8))
        } _: { publisher, fetcher in
            let answer = try #require(await fetcher.get(publisher.url("/feed")).answer)
            #expect(answer.status == 200)
            #expect(answer.finalURL == publisher.url("/feed"))
            #expect(answer.bodyBytes == smallFeed.utf8.count)
            #expect(answer.bodyHash?.count == 64)
            guard case .feed(let document)? = answer.document else {
                Issue.record("\(String(describing: answer.document))")
                return
            }
            #expect(document.entries.map(\.headline) == ["One"])
            #expect(
                answer.headers == [
                    HeaderField("etag", "W/\"1\""), HeaderField("cache-control", "max-age=60"),
                    HeaderField("link", "<x>; rel=hub"),
                ])
            let again = try #require(await fetcher.get(publisher.url("/feed"), known: answer.bodyHash).answer)
            #expect(again.bodyHash == answer.bodyHash)
            #expect(again.document == nil)
        }
    }

    @Test func `a request names its sender and repeats the known validators byte for byte`() async throws {
        let publisher = try await ScriptedPublisher.start { _ in .status(304) }
        let fetcher = try TestFetcher(contact: "ops@news.example (x)\r\nEvil: 1")
        let validators = Validators(etag: "W/\"a b\"", lastModified: "last Tuesday")
        let answer = try await fetcher.get(
            publisher.url("/f?x=1"), validators: validators,
            headers: [
                HeaderField("Authorization", "Bearer s"), HeaderField("Host", "evil"), HeaderField("accept", "a/b"),
            ]
        ).answer
        #expect(answer?.status == 304)
        let request = try #require(publisher.requests.first)
        #expect(request.method == "GET")
        #expect(request.path == "/f?x=1")
        #expect(
            request.headers == [
                "host": "127.0.0.1:\(publisher.port)", "user-agent": "Newswire/1.0 (+ops@news.examplexEvil:1)",
                "connection": "close", "accept": "a/b", "accept-encoding": "gzip, deflate",
                "if-none-match": "W/\"a b\"",
                "if-modified-since": "last Tuesday", "authorization": "Bearer s",
            ])
        await fetcher.close()
        await publisher.stop()
    }

    @Test func `a header that would break the request is refused without showing its value`() async throws {
        try await withPublisher { _ in
            .status(200)
        } _: { publisher, fetcher in
            for field in [HeaderField("X", "secret\r\nY: z"), HeaderField("X Y", "secret"), HeaderField("", "secret")] {
                let failure = try #require(await fetcher.get(publisher.url("/"), headers: [field]).failure)
                #expect(failure.reason == .badAddress)
                #expect(!failure.detail.contains("secret"))
            }
            #expect(publisher.accepted == 0)
        }
    }

    @Test(
        arguments: [
            (200, "notAFeed"), (226, "notAFeed"), (304, "unchanged"), (401, "failed"), (403, "failed"), (404, "failed"),
            (410, "gone"), (418, "failed"), (429, "wait"), (500, "failed"), (502, "failed"), (503, "failed"),
        ])
    func `every status reaches its verdict`(status: Int, expected: String) async throws {
        try await withPublisher { _ in
            .status(status, body: Array("no feed".utf8))
        } _: { publisher, fetcher in
            let request = FetchRequest(
                url: publisher.url("/"), validators: Validators(etag: "\"1\""), allowPrivate: ["127.0.0.1"])
            let result = try await fetcher.fetcher.fetch(request).result.get()
            let verdict =
                switch AnswerVerdict(result, to: request, at: Instant(milliseconds: 0)) {
                case .changed: "changed"
                case .unchanged: "unchanged"
                case .failed(.notAFeed): "notAFeed"
                case .failed(.status(status)): "failed"
                case .failed: "other"
                case .wait: "wait"
                case .gone: "gone"
                case .canceled: "canceled"
                }
            #expect(verdict == expected)
        }
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `redirects are followed, and every hop gets the validators`(status: Int) async throws {
        try await withPublisher { request in
            switch request.path {
            case "/a": .redirect(status, to: "b?x=é")
            case "/b?x=%C3%A9":
                .redirect(302, to: "//127.0.0.1:\(request.headers["host"]?.split(separator: ":").last ?? "")/c")
            default: .status(200, body: Array(smallFeed.utf8))
            }
        } _: { publisher, fetcher in
            let answer = try #require(
                await fetcher.get(publisher.url("/a"), validators: Validators(etag: "\"1\"")).answer)
            #expect(answer.status == 200)
            #expect(answer.finalURL == publisher.url("/c"))
            #expect(
                answer.redirects == [
                    .init(status: status, from: publisher.url("/a"), to: publisher.url("/b?x=%C3%A9")),
                    .init(status: 302, from: publisher.url("/b?x=%C3%A9"), to: publisher.url("/c")),
                ])
            #expect(publisher.requests.allSatisfy { $0.headers["if-none-match"] == "\"1\"" })
        }
    }

    @Test func `credentials are sent only to the host that they were written for`() async throws {
        let other = try await ScriptedPublisher.start { _ in .status(200) }
        try await withPublisher { request in
            request.path == "/a" ? .redirect(302, to: "/b") : .redirect(302, to: "http://localhost:\(other.port)/c")
        } _: { publisher, _ in
            let fetcher = try TestFetcher(FetchLimits.patient.with { $0.ports.insert(other.port) })
            let secrets = [HeaderField("Authorization", "Bearer s"), HeaderField("Cookie", "a=b")]
            let answer = try await fetcher.get(publisher.url("/a"), headers: secrets).answer
            #expect(answer?.finalURL == other.url("/c", host: "localhost"))
            #expect(publisher.requests.map { $0.headers["authorization"] } == ["Bearer s", "Bearer s"])
            let last = try #require(other.requests.first)
            #expect(last.headers["authorization"] == nil && last.headers["cookie"] == nil)
            await fetcher.close()
        }
        await other.stop()
    }

    @Test func `five redirects are followed, but a sixth or a circle is not`() async throws {
        try await withPublisher { request in
            let step = Int(request.path.dropFirst()) ?? 0
            if request.path == "/loop" { return .redirect(301, to: "/loop#again") }
            return step == 0 ? .status(200) : .redirect(302, to: "/\(step - 1)")
        } _: { publisher, fetcher in
            let results = try await [
                fetcher.get(publisher.url("/5")), fetcher.get(publisher.url("/6")), fetcher.get(publisher.url("/loop")),
            ]
            #expect(results[0].answer?.redirects.count == 5)
            #expect(results[1].failure?.reason == .tooManyRedirects)
            #expect(results[2].failure?.reason == .redirectLoop)
        }
    }

    @Test func `a redirect without an address is an ordinary answer`() async throws {
        try await withPublisher { _ in
            .status(301)
        } _: { publisher, fetcher in
            let result = try await fetcher.get(publisher.url("/"))
            #expect(result.answer?.status == 301)
        }
    }

    @Test func `a canceled fetch ends at once and closes its connection`() async throws {
        try await withPublisher { _ in
            .silence
        } _: { publisher, fetcher in
            let running = fetcher.fetcher.fetch(FetchRequest(url: publisher.url("/"), allowPrivate: ["127.0.0.1"]))
            while publisher.requests.isEmpty { await Task.yield() }
            running.cancel()
            running.cancel()
            let result = try await running.result.get()
            #expect(result.failure?.reason == .canceled)
        }
    }
}

struct FetcherFormTests {
    @Test(arguments: [307, 308])
    func `a form is posted again after a redirect that preserves the method`(status: Int) async throws {
        try await withPublisher { request in
            request.path == "/hub" ? .redirect(status, to: "/other") : .status(202)
        } _: { publisher, _ in
            let fetcher = try TestFetcher(FetchLimits.patient.with { $0.ports.insert(publisher.port) })
            let form = [HeaderField("hub.mode", "subscribe"), HeaderField("hub.topic", "https://news.example/?a=b&c")]
            let request = WebSubRequest(url: publisher.url("/hub"), form: form, allowPrivate: ["127.0.0.1"])
            let answer = try #require(await fetcher.fetcher.post(request).result.get().answer)
            #expect(answer.status == 202)
            #expect(publisher.requests.map(\.path) == ["/hub", "/other"])
            for received in publisher.requests {
                #expect(received.method == "POST")
                #expect(received.headers["content-type"] == "application/x-www-form-urlencoded")
                #expect(received.body == "hub.mode=subscribe&hub.topic=https%3A%2F%2Fnews.example%2F%3Fa%3Db%26c")
            }
            await fetcher.close()
        }
    }

    @Test func `a hub is not trusted like a configured address`() async throws {
        try await withPublisher { _ in
            .redirect(302, to: "/other")
        } _: { publisher, fetcher in
            let port = try await fetcher.fetcher.post(
                WebSubRequest(url: publisher.url("/"), form: [], allowPrivate: ["127.0.0.1"])
            ).result.get()
            #expect(port.failure?.reason == .forbiddenAddress)
            let allowing = try TestFetcher(FetchLimits.patient.with { $0.ports.insert(publisher.port) })
            let host = try await allowing.fetcher.post(WebSubRequest(url: publisher.url("/"), form: [])).result.get()
            #expect(host.failure?.reason == .forbiddenAddress)
            #expect(publisher.accepted == 0)
            let found = try await allowing.fetcher.post(
                WebSubRequest(url: publisher.url("/"), form: [], allowPrivate: ["127.0.0.1"])
            ).result.get()
            #expect(found.answer?.status == 302)
            await allowing.close()
        }
    }
}
