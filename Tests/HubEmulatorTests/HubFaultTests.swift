import HubEmulator
import NotificationHub
import Testing

struct HubFaultTests {
    private func fault(_ text: String) throws -> HubFault {
        try HubFault(json: try #require(JSONTree(parsing: Array(text.utf8))))
    }

    @Test
    func `a status affects the given number of sends`() throws {
        var test = try TestHub()
        test.hub.add(try fault(#"{"status":503,"retryAfter":2,"next":2}"#))
        let replies = (1...3).map { _ in test.send("{}") }
        #expect(replies.map(\.status) == [503, 503, 201])
        #expect(replies[0].headers["Retry-After"] == "2")
        #expect(test.hub.received.total == 1)
        #expect(test.hub.faults.isEmpty)
    }

    @Test
    func `a reset before acceptance has no effect, a later one loses only the answer`() throws {
        var test = try TestHub()
        test.hub.add(try fault(#"{"reset":"before","next":1}"#))
        test.hub.add(try fault(#"{"reset":"after","next":2}"#))
        #expect(test.send("{}").transmission == .reset)
        #expect(test.hub.received.total == 0)
        #expect(test.send("{}").transmission == .reset)
        #expect(test.hub.received.total == 1)
        #expect(test.send("{}").transmission == .whole)
    }

    @Test
    func `a fault with a share occurs with about that frequency`() throws {
        var test = try TestHub()
        test.hub.add(try fault(#"{"status":429,"share":0.25}"#))
        let refused = (1...2000).count { _ in test.send("{}").status == 429 }
        #expect((400...600).contains(refused))
    }

    @Test
    func `latency, expired keys and slow bodies are simulated`() throws {
        var test = try TestHub()
        test.hub.add(try fault(#"{"latencyMs":250,"expired":true,"slowBody":10,"next":1}"#))
        let reply = test.send("{}")
        #expect(reply.delayMilliseconds == 250)
        #expect(reply.status == 401 && reply.message?.hasPrefix("ExpiredToken") == true)
        #expect(reply.transmission == .slow(bytesPerSecond: 10))
    }

    @Test(arguments: [
        #"{}"#, #"[]"#, #"{"status":99}"#, #"{"status":"503"}"#, #"{"reset":"maybe"}"#, #"{"share":2,"status":500}"#,
        #"{"stauts":503}"#, #"{"latencyMs":-1}"#, #"{"next":0,"status":500}"#,
    ])
    func `an invalid fault is refused`(text: String) throws {
        #expect(throws: HubFaultProblem.self) { try fault(text) }
    }
}
