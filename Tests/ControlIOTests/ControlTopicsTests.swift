import ControlIO
import Testing

@Suite struct ControlTopicsTests {
    @Test func `topics have the names of the design unless someone says otherwise`() {
        let topics = ControlTopics()
        #expect([topics.control, topics.audit, topics.held] == ["news.control", "news.audit", "news.held"])
    }
}
