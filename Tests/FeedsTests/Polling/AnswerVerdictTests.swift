import Feeds
import NewsModel
import Testing

/// Sun, 06 Nov 1994 08:49:37 GMT.
private let now = Instant(milliseconds: 784_111_777_000)
private let address = "https://news.example/feed"
private let document = FeedDocument(format: .atom10, entries: [FeedEntry(id: "1", headline: "One")])

/// The verdict on one answer to a request with tag `"a"` and known body `old`.
private func verdict(
    _ status: Int, _ headers: [String: String] = [:], hash: BodyHash? = nil,
    document: FetchAnswer.DocumentResult? = nil,
    redirects: [FetchAnswer.Redirect] = [], knows: Validators? = Validators(etag: "\"a\"", lastModified: "then"),
    hash known: BodyHash? = "old"
) -> AnswerVerdict {
    let answer = FetchAnswer(
        status: status, headers: headers.sorted { $0.key < $1.key }.map { HeaderField($0.key, $0.value) },
        redirects: redirects, finalURL: redirects.last?.to ?? address, bodyHash: hash, document: document)
    return AnswerVerdict(
        .answered(answer), to: FetchRequest(url: address, validators: knows, knownBodyHash: known), at: now)
}

private func feed(_ headers: [String: String], redirects: [FetchAnswer.Redirect] = []) -> AnswerVerdict.Receipt? {
    guard
        case .changed(_, let receipt) = verdict(
            200, headers, hash: "new", document: .feed(document), redirects: redirects)
    else { return nil }
    return receipt
}

struct AnswerVerdictTests {
    @Test(arguments: [200, 226])
    func `a document is followed, and its validators, hash and freshness are remembered`(status: Int) {
        let headers = [
            "etag": "W/\"b\"", "last-modified": "Sun, 06 Nov 1994 08:00:00 GMT", "cache-control": "max-age=60",
        ]
        let judged = verdict(status, headers, hash: "new", document: .feed(document))
        guard case .changed(document, let receipt) = judged else {
            Issue.record("\(judged)")
            return
        }
        #expect(receipt.validators == Validators(etag: "W/\"b\"", lastModified: "Sun, 06 Nov 1994 08:00:00 GMT"))
        #expect(receipt.bodyHash == "new")
        #expect(receipt.freshFor == .seconds(60))
        #expect(receipt.move == nil)
    }

    @Test func `the validators and the hash of a document that is cut off are not remembered`() {
        var document = document
        document.isCutOff = true
        let judged = verdict(200, ["etag": "\"b\""], hash: "new", document: .feed(document))
        guard case .changed(_, let receipt) = judged else {
            Issue.record("\(judged)")
            return
        }
        #expect(receipt.validators == nil && receipt.bodyHash == nil)
    }

    @Test func `a known body is unchanged under 200 and 226, and its new validators count`() {
        for status in [200, 226] {
            guard case .unchanged(let receipt) = verdict(status, ["etag": "\"b\""], hash: "old") else {
                Issue.record("\(status)")
                continue
            }
            #expect(receipt.validators == Validators(etag: "\"b\""))
            #expect(receipt.bodyHash == "old")
        }
    }

    @Test func `an answer without a body is not unchanged if no body is known`() {
        #expect(verdict(200, hash: nil, hash: nil) == .failed(.status(200)))
    }

    @Test func `a tag that stays the same while the body changes is dropped`() {
        let headers = ["etag": "\"a\"", "last-modified": "x"]
        #expect(feed(headers)?.validators == nil)
        // The earlier body is unknown, so nothing is proved against the tag.
        let judged = verdict(200, headers, hash: "new", document: .feed(document), hash: nil)
        guard case .changed(_, let receipt) = judged else {
            Issue.record("\(judged)")
            return
        }
        #expect(receipt.validators?.etag == "\"a\"")
    }

    @Test(
        arguments: [
            ([:], Validators(etag: "\"a\"", lastModified: "then")),
            (["etag": "\"b\""], Validators(etag: "\"b\"", lastModified: "then")),
            (["last-modified": "now"], Validators(etag: "\"a\"", lastModified: "now")),
        ] as [([String: String], Validators)])
    func `304 keeps the validators and may bring new ones`(headers: [String: String], expected: Validators) {
        var headers = headers
        headers["expires"] = "Sun, 06 Nov 1994 08:59:37 GMT"
        headers["date"] = "Sun, 06 Nov 1994 08:49:37 GMT"
        guard case .unchanged(let receipt) = verdict(304, headers) else {
            Issue.record("not unchanged")
            return
        }
        #expect(receipt.validators == expected)
        #expect(receipt.bodyHash == "old")
        #expect(receipt.freshFor == .seconds(600))
    }

    @Test func `304 to a request without validators is an error of the publisher`() {
        #expect(verdict(304, knows: nil) == .failed(.unaskedNotModified))
    }

    @Test func `a body that is not a feed changes nothing`() {
        let problem = NotAFeed(.webPage, "a web page")
        #expect(
            verdict(200, ["etag": "\"b\""], hash: "new", document: .notAFeed(problem)) == .failed(.notAFeed(problem)))
    }

    @Test(arguments: [201, 204, 206, 300, 305, 400, 401, 402, 403, 404, 405, 406, 451, 500, 502, 503, 504, 520, 999])
    func `other answers are errors with advice`(status: Int) {
        let judged = verdict(status, ["etag": "\"b\""])
        #expect(judged == .failed(.status(status)))
        #expect(PollFailure.status(status).code == "http-\(status)")
        #expect(PollFailure.status(status).detail.contains("\(status)"))
    }

    @Test func `410 ends a feed, but not behind a temporary redirect`() {
        #expect(verdict(410) == .gone)
        #expect(verdict(410, redirects: [.init(status: 308, from: address, to: address + "/2")]) == .gone)
        let steps = [(301, "/2"), (302, "/3")].map {
            FetchAnswer.Redirect(status: $0.0, from: address, to: address + $0.1)
        }
        #expect(verdict(410, redirects: steps) == .failed(.status(410)))
    }

    @Test(arguments: [403, 429, 503])
    func `a bot wall is reported by its name`(status: Int) {
        let judged = verdict(status, ["cf-mitigated": "challenge", "content-type": "text/html"])
        if status == 429 {
            #expect(judged == .wait(AnswerVerdict.waitUntold, host: "news.example", .botWall(429)))
        } else {
            #expect(judged == .failed(.botWall(status)))
        }
        #expect(PollFailure.botWall(status).detail.contains("bot wall"))
    }

    @Test(
        arguments: [
            ("120", 120), ("0", 60), ("59", 60), ("86401", 86_400), ("9223372036854775807", 86_400),
            ("99999999999999999999", nil), ("Sun, 06 Nov 1994 08:59:37 GMT", 600),
            ("Sunday, 06-Nov-94 08:59:37 GMT", 600), ("Sun Nov  6 08:59:37 1994", 600),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 60), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400), ("soon", nil),
            ("-5", nil), ("", nil),
        ] as [(String, Int?)])
    func `Retry-After is obeyed between a minute and a day`(value: String, seconds: Int?) {
        let headers = ["retry-after": value]
        let told = seconds.map { Duration.seconds($0) }
        #expect(
            verdict(429, headers) == .wait(told ?? .seconds(600), host: "news.example", .status(429)))
        #expect(
            verdict(503, headers) == told.map { .wait($0, host: "news.example", .status(503)) } ?? .failed(.status(503))
        )
        #expect(verdict(500, headers) == .failed(.status(500)))
    }

    @Test func `a request to wait applies to the host that answered`() {
        let redirects = [FetchAnswer.Redirect(status: 302, from: address, to: "https://cdn.example:8443/x")]
        #expect(verdict(429, redirects: redirects) == .wait(.seconds(600), host: "cdn.example", .status(429)))
    }

    @Test(arguments: FetchFailure.Reason.allCases)
    func `a fetch without an answer is an error unless it was canceled`(reason: FetchFailure.Reason) {
        let failure = FetchFailure(reason, "why")
        let judged = AnswerVerdict(.failed(failure), to: FetchRequest(url: address), at: now)
        #expect(judged == (reason == .canceled ? .canceled : .failed(.noAnswer(failure))))
    }
}

struct AnswerHeadersTests {
    @Test(
        arguments: [
            (["cache-control": "max-age=300"], 300), (["cache-control": "public, Max-Age=\"300\" , x"], 300),
            (["cache-control": "s-maxage=9, no-cache, no-store"], nil), (["cache-control": "max-age"], nil),
            (["cache-control": "max-age=-1"], nil), (["cache-control": "max-age=1.5"], nil),
            (["cache-control": "max-age=99999999999999999999999"], 86_400), (["cache-control": "max-age=0"], 0),
            (["cache-control": "max-age=10", "expires": "Sun, 06 Nov 1994 09:49:37 GMT"], 10),
            (["expires": "Sun, 06 Nov 1994 09:49:37 GMT"], 3_600),
            (["expires": "Sun, 06 Nov 1994 09:49:37 GMT", "date": "Sun, 06 Nov 1994 09:48:37 GMT"], 60),
            (["expires": "Sunday, 06-Nov-94 09:49:37 GMT", "date": "garbage"], 3_600),
            (["expires": "Thu, 01 Jan 1970 00:00:00 GMT"], 0), (["expires": "-1"], nil),
            (["expires": "Fri, 31 Dec 9999 23:59:59 GMT"], 86_400),
        ] as [([String: String], Int?)])
    func `freshness is max-age, or else Expires minus Date`(headers: [String: String], seconds: Int?) {
        #expect(feed(headers)?.freshFor == seconds.map { .seconds($0) })
    }

    @Test(
        arguments: [
            ([:], nil), (["etag": ""], nil), (["etag": "\"\""], Validators(etag: "\"\"")),
            (["etag": "unquoted"], Validators(etag: "unquoted")),
            (["last-modified": "yesterday"], Validators(lastModified: "yesterday")),
            (["last-modified": "Tue, 19 Jan 2038 03:14:07 GMT"], nil),
            (["etag": "\"b\"", "last-modified": "Tue, 19 Jan 2038 03:14:07 GMT"], Validators(etag: "\"b\"")),
            (["etag": "\"b\"", "expires": "0"], nil), (["etag": "\"b\"", "expires": "-1"], Validators(etag: "\"b\"")),
            (["etag": "a\r\nb"], nil), (["etag": String(repeating: "x", count: 1_025)], nil),
        ] as [([String: String], Validators?)])
    func `validators are kept byte for byte if they are plausible`(headers: [String: String], kept: Validators?) {
        #expect(feed(headers)?.validators == kept)
    }

    @Test func `no time and no header causes a trap`() {
        for clock in [Instant.distantPast, now, .distantFuture] {
            for date in [
                "Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 0001 00:00:00 GMT", "Friday, 01-Jan-60 00:00:00 GMT",
            ] {
                let names = ["expires", "date", "last-modified", "retry-after"]
                for status in [200, 304, 429, 503] {
                    let answer = FetchAnswer(
                        status: status, headers: names.map { HeaderField($0, date) }, finalURL: "", bodyHash: "h",
                        document: .feed(document))
                    _ = AnswerVerdict(.answered(answer), to: FetchRequest(url: ""), at: clock)
                }
            }
        }
    }
}
