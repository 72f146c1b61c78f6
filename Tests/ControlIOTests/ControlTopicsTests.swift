import ControlIO
import Testing

@Suite struct ControlTopicsTests {
    @Test func `topics have their default names unless configured`() {
        let topics = ControlTopics()
        #expect([topics.control, topics.audit, topics.held] == ["news.control", "news.audit", "news.held"])
    }
}
