import FeedIO
import Feeds
import NIOCore
import TestSupport
import Testing

/// Each fetch ends within the limits, with a message, and a fetch beside it is not affected.
struct HostilePublisherTests {
    private func failure(
        _ answer: ScriptedPublisher.Answer, _ limits: FetchLimits = .patient
    ) async throws -> FetchFailure? {
        try await withPublisher { request in
            request.path == "/good" ? .status(200, body: Array(smallFeed.utf8)) : answer
        } _: { publisher, fetcher in
            let limited = try TestFetcher(limits)
            async let bad = limited.get(publisher.url("/bad"))
            #expect(try await fetcher.get(publisher.url("/good")).answer?.bodyBytes == smallFeed.utf8.count)
            let result = try await bad
            await limited.close()
            #expect(result.failure.map { !$0.detail.isEmpty && !$0.detail.contains("poison") } != false)
            return result.failure
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2540BE400\r\n",
    ])
    func `a body of ten gigabytes ends at its limit`(head: String) async throws {
        let limits = FetchLimits.patient.with { $0.body = 1 << 20 }
        try await withPublisher(limits) { _ in
            .endless(head: head, piece: [UInt8](repeating: 0x20, count: 65_536))
        } _: {
            publisher, fetcher in
            let result = try await fetcher.get(publisher.url("/"))
            #expect(result.failure?.reason == .tooLarge)
            #expect(publisher.sent < 16 << 20)
        }
    }

    @Test func `a body whose announced length is too large is not received`() async throws {
        for length in ["15728641", "99999999999999999999"] {
            let reason = try await failure(.text("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"))?.reason
            #expect(reason == .tooLarge || reason == .protocolError, "\(length)")
        }
    }

    @Test func `endless chunk headers count toward the limit`() async throws {
        let limits = FetchLimits.patient.with { $0.body = 1 << 20 }
        let chunk = Array("1;\(String(repeating: "x", count: 1_000))=poison\r\n \r\n".utf8)
        let answer = ScriptedPublisher.Answer.endless(
            head: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", piece: chunk)
        let reason = try await failure(answer, limits)?.reason
        #expect(reason == .tooLarge || reason == .protocolError)
    }

    @Test(arguments: [
        "X-Poison: poison\r\n", "a: b\r\n", "x", "HTTP/1.1 100 Continue\r\n\r\n", "\r\n", "HTTP/1.1 200 ", "0",
    ])
    func `an endless head ends at its limit`(piece: String) async throws {
        for head in ["HTTP/1.1 200 OK\r\n", ""] {
            let bytes = Array(String(repeating: piece, count: 1_000).utf8)
            let limits = FetchLimits.patient.with { $0.body = 1 << 20 }
            let reason = try await failure(.endless(head: head, piece: bytes), limits)?.reason
            #expect(reason == .tooLarge || reason == .protocolError, "\(head)")
        }
    }

    @Test func `a publisher that sends one byte at a time ends at the deadline`() async throws {
        let bytes =
            Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8) + [UInt8](repeating: 0x20, count: 1_000)
        let answer = ScriptedPublisher.Answer.pieces(bytes.map { [$0] }, every: .milliseconds(20))
        #expect(try await failure(answer, .short)?.reason == .timeout)
    }

    @Test func `silence, a closed connection and a reset are reported differently`() async throws {
        #expect(try await failure(.silence, .short)?.reason == .timeout)
        #expect(try await failure(.close)?.reason == .disconnected)
        #expect(try await failure(.reset)?.reason == .disconnected)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npoison", .disconnected),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\npoison", .disconnected),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\npoison", .protocolError),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\npoisonpoison\r\n0\r\n\r\n", .protocolError),
            ("HTTP/1.1 200 OK\r\nContent-Length: poison\r\n\r\n", .protocolError),
            ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .protocolError),
            ("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", .protocolError),
            ("HTTP/1.1 200 OK\r\npoison\r\n\r\n", .protocolError), ("HTTP/1.1 2 poison\r\n\r\n", .protocolError),
            ("HTTP/9.9 200 OK\r\n\r\n", .protocolError), ("SSH-2.0-poison\r\n", .protocolError),
            ("220 poison SMTP\r\n", .protocolError), ("<html>poison</html>", .protocolError),
            ("\0\0\0\0", .protocolError),
            ("\u{15}\u{3}\u{3}\0\u{2}\u{2}\u{28}", .protocolError), ("HTTP/1.1 200", .disconnected),
        ] as [(String, FetchFailure.Reason)])
    func `an answer that is not HTTP or is cut off fails`(bytes: String, reason: FetchFailure.Reason) async throws {
        let failure = try await failure(.text(bytes))
        #expect(failure?.reason == reason, "\(String(describing: failure))")
    }

    @Test func `a second answer after the first is ignored`() async throws {
        let first = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        try await withPublisher { _ in
            .text(first + "HTTP/1.1 302 X\r\nLocation: http://evil.example/\r\n\r\n")
        } _: {
            publisher, fetcher in
            let answer = try await fetcher.get(publisher.url("/")).answer
            #expect(answer?.status == 200 && answer?.bodyBytes == 2)
        }
    }

    @Test func `a few informational answers are skipped, but an endless series fails`() async throws {
        let info = "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n"
        let good = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        #expect(try await failure(.text(String(repeating: info, count: 3) + good)) == nil)
        #expect(try await failure(.text(String(repeating: info, count: 40) + good))?.reason == .protocolError)
    }

    @Test func `fetches that together exceed the memory limit wait for one another`() async throws {
        let padding = String(repeating: " ", count: 2 << 20)
        try await withPublisher { _ in
            .status(200, body: Array((smallFeed + padding).utf8))
        } _: { publisher, _ in
            let fetcher = try TestFetcher(bodies: 1 << 20)
            let sizes = try await withThrowingTaskGroup(of: Int?.self) { group in
                for _ in 0..<8 { group.addTask { try await fetcher.get(publisher.url("/")).answer?.bodyBytes } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(sizes == Array(repeating: smallFeed.utf8.count + padding.utf8.count, count: 8))
            await fetcher.close()
        }
    }

    @Test func `a fetch that never ends does not block fetches that wait for its memory`() async throws {
        let padding = String(repeating: " ", count: 2 << 20)
        let limits = FetchLimits.patient.with { $0.whole = .seconds(2) }
        try await withPublisher { request in
            request.path == "/good"
                ? .status(200, body: Array((smallFeed + padding).utf8))
                : .text("HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n" + padding)
        } _: { publisher, _ in
            let fetcher = try TestFetcher(limits, bodies: 1 << 20)
            async let bad = fetcher.get(publisher.url("/bad"))
            async let good = fetcher.get(publisher.url("/good"))
            let (first, second) = try await (bad, good)
            #expect(first.answer == nil)
            #expect(second.answer?.bodyBytes == smallFeed.utf8.count + padding.utf8.count)
            await fetcher.close()
        }
    }

    @Test func `bodies of refusals are not awaited`() async throws {
        for status in [301, 302, 304, 403, 404, 410, 429, 500] {
            let answer = ScriptedPublisher.Answer.endless(
                head: "HTTP/1.1 \(status) Poison\r\nContent-Length: 10000000000\r\n\r\n",
                piece: [UInt8](repeating: 0x20, count: 65_536))
            #expect(try await failure(answer) == nil, "\(status)")
        }
    }
}
