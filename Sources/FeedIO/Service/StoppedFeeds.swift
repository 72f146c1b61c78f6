import ControlIO
import Dispatch
import EditorialControl
package import KafkaIO
package import KafkaModel
package import NewsModel
import Synchronization

/// Follows the orders in force that stop feeds. The topic may appear later. While it cannot be read, the last known
/// orders apply.
package final class StoppedFeeds: Sendable {
    private struct State {
        var link: ControlLink?
        var stopped: Set<String> = []
        var isKnown = false
    }

    private let kafka: KafkaSettings
    private let topic: String
    private let report: @Sendable (Set<String>) -> Void
    private let notify: @Sendable (KafkaFailure) -> Void
    private let state = Mutex(State())
    private let firstReading = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - report: called on the link's thread with all stopped feeds, at first and after every change.
    ///   - notify: receives failures; reading continues.
    package init(
        _ kafka: KafkaSettings, topic: String, report: @escaping @Sendable (Set<String>) -> Void,
        notify: @escaping @Sendable (KafkaFailure) -> Void
    ) {
        self.kafka = kafka
        self.topic = topic
        self.report = report
        self.notify = notify
    }

    /// Starts reading. After it has succeeded, later calls do nothing.
    package func start() throws(KafkaFailure) {
        if state.withLock({ $0.link != nil }) { return }
        let link = try ControlLink(
            kafka: kafka, topics: ControlTopics(control: topic), state: .init(replica: nil, shards: 1),
            now: { ServiceClock().now }, deliver: { [weak self] in self?.receive($0) })
        state.withLock { $0.link = link }
        link.start()
    }

    /// Waits until the orders that were on the topic are known, or the topic is known to be missing.
    ///
    /// - Returns: `false` if the time limit is reached first.
    package func waitForFirstReading(_ limit: Duration) -> Bool {
        if state.withLock({ $0.isKnown }) { return true }
        return firstReading.wait(timeout: .now() + .seconds(Int(limit.components.seconds))) == .success
    }

    package func close() { state.withLock { $0.link }?.close() }

    private func receive(_ message: ControlLink.Message) {
        switch message {
        case .orders(let changes):
            let known = state.withLock { state in
                for change in changes { Self.apply(change, to: &state.stopped) }
                return state.isKnown ? state.stopped : nil
            }
            if let known { report(known) }
        case .known(true):
            report(
                state.withLock { state in
                    state.isKnown = true
                    return state.stopped
                })
            firstReading.signal()
        case .note(.obstacle(.unreadable(let failure))): notify(failure)
        // Only a publisher writes to the control topic.
        case .known(false), .confirmed, .formerlyHeld, .settled, .note, .status, .failed, .ended: break
        }
    }

    private static func apply(_ change: OrderChange, to stopped: inout Set<String>) {
        switch change {
        case .stands(let order): if case .stop(.feed(let name)) = order.scope { stopped.insert(name) }
        case .lifted(.stop(.feed(let name))): stopped.remove(name)
        case .lifted: break
        }
    }

    /// Applies one record, for callers that read the topic once.
    package static func apply(_ record: SourceRecord, to stopped: inout Set<String>) {
        switch ControlRecord.read(record).record {
        case .stands(let order): apply(.stands(order), to: &stopped)
        // A newer order than the lapsed one is written again after the tombstone.
        case .lifted(let scope), .lapsed(let scope, _, _): apply(.lifted(scope), to: &stopped)
        case .beat, .ended, .environment, .noEnvironment, .heldTotals, .proposed, .proposalEnded, nil: break
        }
    }
}
