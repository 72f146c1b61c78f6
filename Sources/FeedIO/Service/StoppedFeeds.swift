import Dispatch
import Foundation
package import KafkaIO
package import KafkaModel
package import NewsModel
import Synchronization

/// Follows editors' standing orders as far as they stop feeds: `stop/feed/NAME` on the control topic, until a tombstone lifts
/// it. Whatever such a record says stops the feed: a command that is not understood must not send news.
///
/// The topic may appear later. A thread of its own reads it, as reading blocks.
package final class StoppedFeeds: Sendable {
    private struct State {
        var isClosed = false
        var hasRead = false
    }

    private let settings: KafkaSettings
    private let topic: String
    private let report: @Sendable (Set<String>) -> Void
    private let notify: @Sendable (KafkaFailure) -> Void
    private let state = Mutex(State())
    private let closing = DispatchSemaphore(value: 0)
    private let firstReading = DispatchSemaphore(value: 0)

    /// How long a missing topic, or one that cannot be read, is left alone.
    private static let pause = DispatchTimeInterval.seconds(20)

    /// - Parameters:
    ///   - report: Called on the reading thread with all stopped feeds, first and then whenever they change.
    ///   - notify: Takes failures; reading goes on by itself.
    package init(
        _ settings: KafkaSettings, topic: String, report: @escaping @Sendable (Set<String>) -> Void,
        notify: @escaping @Sendable (KafkaFailure) -> Void
    ) {
        self.settings = settings
        self.topic = topic
        self.report = report
        self.notify = notify
    }

    package func start() {
        let thread = Thread { [self] in run() }
        thread.name = "control"
        thread.start()
    }

    /// Waits until the orders are known that stood on the topic, or the topic is known to be missing.
    ///
    /// - Returns: `false` when time is up first.
    package func waitForFirstReading(_ limit: Duration) -> Bool {
        if state.withLock({ $0.hasRead }) { return true }
        return firstReading.wait(timeout: .now() + .seconds(Int(limit.components.seconds))) == .success
    }

    package func close() {
        state.withLock { $0.isClosed = true }
        closing.signal()
    }

    private var isClosed: Bool { state.withLock { $0.isClosed } }

    private func run() {
        while !isClosed {
            do throws(KafkaFailure) {
                try follow()
            } catch {
                if error.code == "UNKNOWN_TOPIC_OR_PART" {
                    // Nothing is stopped where nobody can stop anything.
                    report([])
                    noteFirstReading()
                } else {
                    notify(error)
                }
            }
            if !isClosed { _ = closing.wait(timeout: .now() + Self.pause) }
        }
    }

    private func follow() throws(KafkaFailure) {
        let reader = try TopicReader(settings: settings, topic: topic, follow: true)
        // Until all of it is read, what was known before holds.
        var stopped: Set<String> = []
        var isWhole = false
        while !isClosed {
            let before = stopped
            for read in try reader.next(timeout: .milliseconds(500)) { Self.apply(read.record, to: &stopped) }
            guard reader.isAtEnd else { continue }
            if !isWhole || stopped != before { report(stopped) }
            isWhole = true
            noteFirstReading()
        }
    }

    package static func apply(_ record: SourceRecord, to stopped: inout Set<String>) {
        let prefix = "stop/feed/"
        guard let key = record.key.flatMap({ String(validating: $0, as: UTF8.self) }), key.hasPrefix(prefix) else {
            return
        }
        let name = String(key.dropFirst(prefix.count))
        if record.value == nil {
            stopped.remove(name)
        } else {
            stopped.insert(name)
        }
    }

    private func noteFirstReading() {
        let isFirst = state.withLock { state in
            defer { state.hasRead = true }
            return !state.hasRead
        }
        if isFirst { firstReading.signal() }
    }
}
