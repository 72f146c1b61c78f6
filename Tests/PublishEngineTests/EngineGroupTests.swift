import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Two consumer groups that read the same lanes, such as one for each hub.
struct EngineGroupTests {
    private func headers(of group: String, _ mark: String? = HeaderName.redrive) -> [RecordHeader] {
        [RecordHeader(HeaderName.group, group)] + (mark.map { [RecordHeader($0, "1")] } ?? [])
    }

    @Test(arguments: [HeaderName.redrive, HeaderName.held, "nw-held-restored"])
    func `another group's record that returns to the lane is skipped and recorded nowhere`(mark: String) throws {
        func headers(of group: String) -> [RecordHeader] { self.headers(of: group, mark) }
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

    @Test func `a replacement for the readers of another group's hub is skipped`() throws {
        var shell = try TestShell { ($0.group, $0.awaitsOrders) = ("ours", true) }
        _ = shell.assign()
        _ = shell.take(.ordersKnown(true))
        _ = shell.take(.orders([.recall("s", "O1")]))
        func publish(_ id: String, for group: String) -> [Action] {
            let headers = [RecordHeader(HeaderName.replacement, "O1"), RecordHeader(HeaderName.group, group)]
            return shell.publish(news(id, story: "s"), headers: headers)
        }
        let skipped = publish("r1", for: "theirs") + shell.take(.ordersConfirmed(1))
        #expect(skipped.sends.isEmpty && skipped.endings.isEmpty)
        _ = publish("r2", for: "ours")
        #expect(shell.take(.ordersConfirmed(1)).sends.count == 1)
    }

    @Test func `only a record that returned to its lane is skipped, and only if it names a group`() throws {
        var shell = try TestShell { $0.group = "ours" }
        _ = shell.assign()
        #expect(shell.publish(news("a"), headers: headers(of: "theirs", nil)).sends.count == 1)
        #expect(shell.publish(news("b"), headers: [RecordHeader(HeaderName.redrive, "1")]).sends.count == 1)
    }
}
