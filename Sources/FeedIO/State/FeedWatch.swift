import Foundation
import KafkaIO
public import KafkaModel
import Synchronization

/// Keeps up with what the topics tell of feeds, for a page of a process that follows none.
///
/// It reads while somebody looks, and only then: the entries of thousands of feeds stand on the same topic, and a process
/// that publishes news has better things to do.
public final class FeedWatch: Sendable {
    private struct State {
        var known: StoredFeeds?
        var isReading = false
        var lastLook = ContinuousClock.now
    }

    private let settings: IngestService.Settings
    private let notify: @Sendable (KafkaFailure) -> Void
    private let state = Mutex(State())

    /// Without a look for so long, reading ends.
    private static let interest = Duration.seconds(300)
    /// After a failure.
    private static let pause = 30.0

    /// - Parameter notify: Takes failures, on the reading thread; reading begins again at the next look.
    public init(_ settings: IngestService.Settings, notify: @escaping @Sendable (KafkaFailure) -> Void) {
        self.settings = settings
        self.notify = notify
    }

    /// What is known now; `nil` until the topics have been read. Any thread; never waits.
    public func look() -> StoredFeeds? {
        let (known, begins) = state.withLock { state in
            defer { state.isReading = true }
            state.lastLook = .now
            return (state.known, !state.isReading)
        }
        if begins {
            let thread = Thread { [self] in run() }
            thread.name = "feeds"
            thread.start()
        }
        return known
    }

    private func run() {
        do throws(KafkaFailure) {
            try follow()
        } catch {
            notify(error)
            Thread.sleep(forTimeInterval: Self.pause)
        }
        state.withLock { $0 = State() }
    }

    private func follow() throws(KafkaFailure) {
        let topics = settings.topics
        let counts = try KafkaAdmin(settings: settings.kafka).partitionCounts(of: [topics.state, topics.control])
        func reader(_ topic: String) throws(KafkaFailure) -> TopicReader? {
            counts[topic] == nil ? nil : try TopicReader(settings: settings.kafka, topic: topic, follow: true)
        }
        let (feeds, orders) = (try reader(topics.state), try reader(topics.control))
        var known = StoredFeeds()
        while state.withLock({ .now - $0.lastLook < Self.interest }) {
            for read in try orders?.next(timeout: .milliseconds(1)) ?? [] { known.takeOrder(read.record) }
            if let feeds {
                for read in try feeds.next(timeout: .seconds(1)) { known.take(read.record) }
            } else {
                // Nothing follows feeds yet.
                Thread.sleep(forTimeInterval: 1)
            }
            guard feeds?.isAtEnd ?? true, orders?.isAtEnd ?? true else { continue }
            state.withLock { $0.known = known }
        }
    }
}
