import Foundation
import HubServer
import NewsModel
import NewswireCommands
import Synchronization
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The log must never delay the code that writes to it.
struct LogWriterTests {
    /// A stream that takes lines one at a time, when the test allows it.
    private final class Stream: Sendable {
        private let permits = DispatchSemaphore(value: 0)
        private let written = Mutex<[String]>([])
        private let isBroken = Mutex(false)
        let lost = Mutex(0)

        func write(_ line: String) -> Bool {
            if isBroken.withLock({ $0 }) { return false }
            permits.wait()
            written.withLock { $0.append(line) }
            return true
        }

        func allow(_ count: Int) { for _ in 0..<count { permits.signal() } }
        func setBroken(_ broken: Bool) { isBroken.withLock { $0 = broken } }
        var lines: [String] { written.withLock { $0 } }

        func writer() -> LogWriter {
            LogWriter(write: { self.write($0) }, onLoss: { count in self.lost.withLock { $0 += count } })
        }
    }

    @Test func `a line beyond the bound is dropped and counted`() {
        var queue = LogQueue()
        let line = String(repeating: "x", count: LogQueue.bytesMax / 4)
        for _ in 0..<4 {
            let isKept = queue.append(line)
            #expect(isKept)
        }
        let kept = [queue.append("y"), queue.append("z")]
        #expect(kept == [false, false])
        let taken = queue.takeAll()
        #expect(taken.lines.count == 4)
        #expect(taken.dropped == 2)
        let isKept = queue.append("y")
        let next = queue.takeAll()
        #expect(isKept && next.dropped == 0)
    }

    @Test(.timeLimit(.minutes(1))) func `dropped lines are reported in their place once the reader is back`() {
        let stream = Stream()
        let writer = stream.writer()
        let line = String(repeating: "x", count: LogQueue.bytesMax / 4)
        // The thread may or may not have taken the first lines already.
        for _ in 0..<20 { writer.append(line) }
        let lost = stream.lost.withLock { $0 }
        #expect(lost >= 12)
        stream.allow(1_000)
        writer.flush(within: .seconds(30))
        writer.append("last\n")
        writer.flush(within: .seconds(30))
        #expect(stream.lines == Array(repeating: line, count: 20 - lost) + ["\(lost) log lines dropped\n", "last\n"])
        #expect(stream.lost.withLock { $0 } == lost)
    }

    @Test(.timeLimit(.minutes(1))) func `unwritable lines are reported after the next line that is written`() {
        let stream = Stream()
        stream.setBroken(true)
        let writer = stream.writer()
        for _ in 0..<3 {
            writer.append("lost\n")
            writer.flush(within: .seconds(30))
        }
        #expect(stream.lost.withLock { $0 } == 3)
        stream.setBroken(false)
        stream.allow(1_000)
        writer.append("first\n")
        writer.flush(within: .seconds(30))
        #expect(stream.lines == ["first\n", "3 log lines dropped\n"])
        #expect(stream.lost.withLock { $0 } == 3)
    }

    @Test(.timeLimit(.minutes(1))) func `the end of a process waits for a stuck reader no longer than its limit`() {
        let writer = Stream().writer()
        writer.append("never read\n")
        writer.flush(within: .milliseconds(50))
    }

    /// A pipe without a reader has room for 64 KB. Each event makes a line of some 300 bytes.
    @Test(.timeLimit(.minutes(3))) func `a service with an unread log sends everything, reports lost lines and ends`()
        async throws
    {
        let room = try await ProgramRoom()
        let errors = Pipe()
        let running = try Program.start(
            ["run", "--config", room.path("newswire.yaml"), "--log-level", "debug"],
            environment: room.environment.merging(["NEWSWIRE_HTTP_LISTEN": "127.0.0.1:0"]) { $1 },
            errors: errors.fileHandleForWriting)
        let served = try #require(await text(from: errors, upTo: "status served"))
        let page = try #require(served.matches(of: /http:\/\/127.0.0.1:[0-9]+/).last).output
        // From here on nobody reads.
        let count = 10_000
        let events = (0..<count).map { #"{"id":"\#($0)","headline":"Headline \#($0)","category":"World"}"# }
        let published = try await room.run(
            "publish", "--lane", "live", "--confirm", "\(count)", "-", input: events.joined(separator: "\n"))
        #expect(published.status == 0, "\(published.errors)")
        while room.hub.receivedCount < count {
            try Task.checkCancellation()
            await Task.yield()
        }

        let address = try #require(URL(string: page + "/metrics"))
        let metrics = String(decoding: try await URLSession.shared.data(from: address).0, as: UTF8.self)
        let dropped = try #require(metrics.firstMatch(of: /(?m)^newswire_log_lines_dropped_total ([0-9]+)$/)).output.1
        #expect(try #require(Int(dropped)) > 0)

        running.terminate()
        #expect(try await running.ended().status == 0)
        await room.close()
    }

    /// Reads until a line with `end` is complete; `nil` without such a line.
    private func text(from pipe: Pipe, upTo end: String) async -> String? {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var text = ""
                while true {
                    let read = pipe.fileHandleForReading.availableData
                    text += String(decoding: read, as: UTF8.self)
                    let isComplete = text.range(of: end).map { text[$0.upperBound...].contains("\n") } ?? false
                    if isComplete || read.isEmpty { return continuation.resume(returning: isComplete ? text : nil) }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `a service ends with its exit code even if its log pipe is full`()
        async throws
    {
        let room = try await ProgramRoom()
        try room.write("kafka: {}\nnonsense: 1\n", to: "newswire.yaml")
        let errors = Pipe()
        let full = errors.fileHandleForWriting.fileDescriptor
        #expect(fcntl(full, F_SETFL, O_NONBLOCK) == 0)
        while write(full, "x", 1) == 1 {}
        #expect(fcntl(full, F_SETFL, 0) == 0)
        let running = try Program.start(
            ["run", "--config", room.path("newswire.yaml")], errors: errors.fileHandleForWriting)
        #expect(try await running.ended().status == 78)
        await room.close()
    }
}
