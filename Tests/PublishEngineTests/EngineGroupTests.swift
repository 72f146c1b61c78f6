import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Two consumer groups that read the same lanes, such as one for each hub.
struct EngineGroupTests {
    private func headers(of group: String, isRedriven: Bool = true) -> [RecordHeader] {
        [RecordHeader(HeaderName.group, group)] + (isRedriven ? [RecordHeader(HeaderName.redrive, "1")] : [])
    }

    @Test func `another group's dead letter that returns to the lane is skipped and recorded nowhere`() throws {
        var shell = try TestShell { ($0.group, $0.platforms) = ("ours", [.apple, .fcmv1]) }
        _ = shell.assign()
        let skipped = shell.publish(news("a"), headers: headers(of: "theirs"))
        #expect(skipped.sends.isEmpty && skipped.endings.isEmpty)
        #expect(shell.publish(news("b", story: "s", status: "canceled"), headers: headers(of: "theirs")).recalls == [])
        #expect(shell.publish("broken", headers: headers(of: "theirs")).endings.isEmpty)
        #expect(shell.wait(.seconds(1)).commits.flatMap(\.self).contains(PartitionOffset(TestShell.source, 3)))
        #expect(shell.publish(news("c"), headers: headers(of: "ours")).sends.count == 2)
        // The event was skipped, so it is no duplicate.
        #expect(shell.publish(news("a")).sends.count == 2)
    }

    @Test func `only a record that returned to its lane is skipped, and only if it names a group`() throws {
        var shell = try TestShell { $0.group = "ours" }
        _ = shell.assign()
        #expect(shell.publish(news("a"), headers: headers(of: "theirs", isRedriven: false)).sends.count == 1)
        #expect(shell.publish(news("b"), headers: [RecordHeader(HeaderName.redrive, "1")]).sends.count == 1)
    }
}
