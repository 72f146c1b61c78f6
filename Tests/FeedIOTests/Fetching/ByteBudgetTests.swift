import Synchronization
import Testing

@testable import FeedIO

struct ByteBudgetTests {
    private final class Log: Sendable {
        let granted = Mutex<[String]>([])
        func note(_ name: String) { granted.withLock { $0.append(name) } }
        var names: [String] { granted.withLock(\.self) }
    }

    @Test func `the oldest fetch always gets its bytes, and the others wait in order`() {
        let (budget, log) = (ByteBudget(10), Log())
        let (first, second, third) = (budget.begin(), budget.begin(), budget.begin())
        #expect(budget.request(8, for: first) { log.note("first") })
        #expect(!budget.request(4, for: second) { log.note("second") })
        #expect(!budget.request(3, for: third) { log.note("third") })
        #expect(budget.request(20, for: first) { log.note("first") })
        budget.end(first)
        #expect(log.names == ["second", "third"])
        // The second ticket is the oldest now.
        #expect(budget.request(100, for: second) { log.note("second") })
        budget.end(second)
        budget.end(third)
        #expect(budget.request(10, for: budget.begin()) { log.note("new") })
    }

    @Test func `a fetch that ends while it waits gets no bytes`() {
        let (budget, log) = (ByteBudget(10), Log())
        let (first, second) = (budget.begin(), budget.begin())
        #expect(budget.request(10, for: first) { log.note("first") })
        #expect(!budget.request(10, for: second) { log.note("second") })
        budget.end(second)
        budget.end(first)
        #expect(log.names.isEmpty)
        #expect(budget.request(10, for: budget.begin()) { log.note("new") })
    }

    @Test func `a fetch that keeps nothing does not count as the oldest`() {
        let budget = ByteBudget(10)
        let (idle, busy) = (budget.begin(), budget.begin())
        #expect(budget.request(50, for: busy) {})
        // It is older than the ticket that keeps all bytes, so it need not wait.
        #expect(budget.request(1, for: idle) {})
        budget.end(busy)
        budget.end(idle)
    }
}
