import EditorialControl
import KafkaModel
package import NewsModel

/// Notifications that replace a recalled story on phones. Each leaves only while its own recall is in force.
///
/// A process may read a replacement before it has read its recall, or before it has read the recall that took that one's place.
/// Therefore it asks for all orders after it has read the replacement. If another recall is on the control topic before a
/// replacement is written, the replacement never leaves.
struct PendingReplacements: Sendable {
    /// Replacements whose orders are known: the control topic was read to its end after they arrived.
    private var confirmed: Set<DeliveryID> = []
    private var waiting: Set<DeliveryID> = []
    /// The question about orders in flight.
    private var asked: (number: UInt64, ids: Set<DeliveryID>, since: Instant)?

    private var most = leastMost

    private static let leastMost = 1_000

    func isConfirmed(_ id: DeliveryID) -> Bool { confirmed.contains(id) }

    mutating func wait(_ id: DeliveryID) { if asked?.ids.contains(id) != true { waiting.insert(id) } }

    /// True if a question is due. One is in flight at a time, because each reads the whole control topic.
    var mustAsk: Bool { !waiting.isEmpty && asked == nil }

    mutating func ask(_ number: UInt64, at now: Instant) {
        asked = (number, waiting, now)
        waiting = []
    }

    /// - Parameter number: the number of the question, or of a later one.
    /// - Returns: true if replacements waited for the answer.
    mutating func confirm(_ number: UInt64) -> Bool {
        guard let question = asked, question.number <= number else { return false }
        confirmed.formUnion(question.ids)
        asked = nil
        return true
    }

    /// The time of the unanswered question, by the monotonic clock.
    var askedAt: Instant? { asked?.since }

    /// Forgets deliveries that have ended, whenever twice as many are known as after the last time.
    mutating func tidy(in partitions: PartitionTable) {
        guard confirmed.count + waiting.count > most else { return }
        confirmed = confirmed.filter(partitions.isOpen)
        waiting = waiting.filter(partitions.isOpen)
        most = max(Self.leastMost, 2 * (confirmed.count + waiting.count))
    }
}

extension Engine {
    /// Asks for the orders in force if replacements wait for them.
    mutating func confirmReplacements(_ turn: inout Turn) {
        guard replacements.mustAsk, isRunning else { return }
        replacements.ask(askForOrders(&turn), at: turn.now)
    }

    /// Time since which replacements wait for the orders in force, by the monotonic clock.
    package var ordersAskedSince: Instant? { replacements.askedAt }

    /// - Returns: the number of the question.
    mutating func askForOrders(_ turn: inout Turn) -> UInt64 {
        ordersAsked += 1
        turn.actions.append(.confirmOrders(ordersAsked))
        return ordersAsked
    }

    /// The event was written to replace a recalled story on phones, by the recall in force.
    func isReplacement(_ content: ExaminedRecord, of story: String) -> Bool {
        guard let order = content.record.text(of: HeaderName.replacement) else { return false }
        return order == orders.recall(of: story)?.id
    }

    /// The failure of a replacement whose recall is not in force; `nil` if it may leave.
    func replacementFailure(_ content: ExaminedRecord) -> ResultRecord.Failure? {
        guard let story = content.routed?.event.orderKey, !isReplacement(content, of: story) else { return nil }
        if orders.isRecalled(story) { return recalled(story) }
        // Without a control topic, as in a rehearsal, no order is known.
        return settings.awaitsOrders ? .init(.recalled, "the recall that it belongs to is over") : nil
    }

    /// Ends the waiting notifications that replace the story on phones, because its recall was lifted.
    mutating func withdrawReplacements(of story: String, _ turn: inout Turn) {
        for id in storyIDs(of: story).flatMap({ openDeliveries(of: $0) }) {
            guard let place = partitions.place(of: id), let content = partitions.content(of: place),
                orders.hasEndedRecall(of: content.record)
            else { continue }
            withdraw(id, for: .recalled, &turn)
        }
        advanceStories(&turn)
    }
}
