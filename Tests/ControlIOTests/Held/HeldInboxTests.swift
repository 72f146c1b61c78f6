import EditorialControl
import KafkaModel
import NewsModel
import Testing

@testable import ControlIO

@Suite struct HeldInboxTests {
    @Test func `memory for states does not grow, and only the latest value is kept`() {
        var inbox = HeldInbox()
        for number in 0..<10_000 {
            inbox.add(.settled(ShardID(number % 2), number, perSecond: 5))
            inbox.add(.counts(["news": number]))
            inbox.add(.owned(LaneID(0), ShardID(0), [TopicPartition(topic: "news", partition: Int32(number))]))
        }
        #expect(inbox.count == 4)
        let inputs = inbox.takeAll()
        #expect(inputs.count == 4)
        #expect(inbox.count == 0)
        guard case .counts(["news": 9_999])? = inputs.first, case .owned(_, _, let partitions) = inputs[1],
            case .settled(ShardID(0), 9_998, perSecond: 5) = inputs[2],
            case .settled(ShardID(1), 9_999, perSecond: 5) = inputs[3]
        else {
            Issue.record("\(inputs)")
            return
        }
        #expect(partitions.map(\.partition) == [9_999])
    }

    @Test func `orders and recall requests are kept in order`() {
        var inbox = HeldInbox()
        let order = Order(id: "1", scope: .recall(story: "a"), at: Instant(milliseconds: 0), by: "editor")
        inbox.add(.orders([.stands(order)]))
        inbox.add(.bringBack(story: "a", .recalled))
        inbox.add(.orders([.lifted(order.scope)]))
        let kinds = inbox.takeAll().map { input in
            switch input {
            case .orders(let changes): changes.first.map { if case .stands = $0 { "stands" } else { "lifted" } } ?? ""
            case .bringBack(let story, _, _): story
            default: "other"
            }
        }
        #expect(kinds == ["stands", "a", "lifted"])
    }
}
