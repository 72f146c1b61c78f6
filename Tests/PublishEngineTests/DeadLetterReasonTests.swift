import PublishEngine
import Testing

struct DeadLetterReasonTests {
    @Test(arguments: [
        ("truncated-json", "truncated-json"), ("unknown-category", "unknown-category"), ("recalled", "recalled"),
        ("status-400", "status-400"), ("status-422", "status-4xx"), ("status-599", "status-5xx"),
        ("status-202", "status-2xx"), ("status-302", "other"), ("status-4", "other"), ("status-4000", "other"),
        ("duplicate", "other"), ("", "other"),
    ])
    func `each failure counts under one of a closed set of reasons`(code: String, reason: String) {
        #expect(DeadLetterReason.counting(code) == reason)
        #expect(DeadLetterReason.all.contains(reason))
    }
}
