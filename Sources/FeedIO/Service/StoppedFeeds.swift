import ControlIO
import Dispatch
import EditorialControl
package import KafkaIO
package import KafkaModel
package import NewsModel
import Synchronization

/// Follows editors' standing orders as far as they stop feeds. The topic may appear later; what was read last holds while it
/// cannot be read.
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
    ///   - report: Called on the link's thread with all stopped feeds, first and then whenever they change.
    ///   - notify: Takes failures; reading goes on by itself.
    package init(
        _ kafka: KafkaSettings, topic: String, report: @escaping @Sendable (Set<String>) -> Void,
        notify: @escaping @Sendable (KafkaFailure) -> Void
    ) {
        self.kafka = kafka
        self.topic = topic
        self.report = report
        self.notify = notify
    }

    /// Once it has succeeded, later calls do nothing.
    package func start() throws(KafkaFailure) {
        if state.withLock({ $0.link != nil }) { return }
        let link = try ControlLink(
            kafka: kafka, topics: ControlTopics(control: topic), desk: .init(replica: nil, shards: 1),
            now: { FeedClock.system.now }, deliver: { [weak self] in self?.take($0) })
        state.withLock { $0.link = link }
        link.start()
    }

    /// Waits until the orders are known that stood on the topic, or the topic is known to be missing.
    ///
    /// - Returns: `false` when time is up first.
    package func waitForFirstReading(_ limit: Duration) -> Bool {
        if state.withLock({ $0.isKnown }) { return true }
        return firstReading.wait(timeout: .now() + .seconds(Int(limit.components.seconds))) == .success
    }

    package func close() { state.withLock { $0.link }?.close() }

    private func take(_ message: ControlLink.Message) {
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
        case .known(false), .confirmed, .settled, .note, .status, .ended: break
        }
    }

    private static func apply(_ change: OrderChange, to stopped: inout Set<String>) {
        switch change {
        case .stands(let order): if case .stop(.feed(let name)) = order.scope { stopped.insert(name) }
        case .lifted(.stop(.feed(let name))): stopped.remove(name)
        case .lifted: break
        }
    }

    /// For whoever reads the topic once.
    package static func apply(_ record: SourceRecord, to stopped: inout Set<String>) {
        switch ControlRecord.read(record).record {
        case .stands(let order): apply(.stands(order), to: &stopped)
        case .lifted(let scope): apply(.lifted(scope), to: &stopped)
        case .beat, .ended, .environment, .noEnvironment, nil: break
        }
    }
}
