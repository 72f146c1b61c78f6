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
        /// It is not read again before.
        var notBefore = ContinuousClock.now
        var lastLook = ContinuousClock.now
    }

    private let settings: IngestService.Settings
    private let notify: @Sendable (KafkaFailure) -> Void
    private let state = Mutex(State())

    /// Without a look for so long, reading ends.
    private static let interest = Duration.seconds(300)
    /// After a failure.
    private static let pause = Duration.seconds(30)
    /// While nothing follows feeds.
    private static let lookInterval = Duration.seconds(5)

    /// - Parameter notify: Takes failures, on the reading thread; reading begins again at the next look.
    public init(_ settings: IngestService.Settings, notify: @escaping @Sendable (KafkaFailure) -> Void) {
        self.settings = settings
        self.notify = notify
    }

    /// What is known now; `nil` until the topics have been read. Any thread; never waits.
    public func look() -> StoredFeeds? {
        let (known, begins) = state.withLock { state in
            let now = ContinuousClock.now
            // What was left of a former look says nothing about now.
            if !state.isReading, now - state.lastLook >= Self.interest { state.known = nil }
            state.lastLook = now
            let begins = !state.isReading && state.notBefore <= now
            if begins { state.isReading = true }
            return (state.known, begins)
        }
        if begins {
            let thread = Thread { [self] in run() }
            thread.name = "feeds"
            thread.start()
        }
        return known
    }

    private func run() {
        var known: StoredFeeds?
        var pause = Self.lookInterval
        do throws(KafkaFailure) {
            known = try follow()
        } catch {
            notify(error)
            pause = Self.pause
        }
        state.withLock { state in
            state.known = known
            state.notBefore = .now + pause
            state.isReading = false
        }
    }

    /// - Returns: what stays known; `nil` if nobody looks any more.
    private func follow() throws(KafkaFailure) -> StoredFeeds? {
        let topics = settings.topics
        let counts = try KafkaAdmin(settings: settings.kafka).partitionCounts(of: [topics.state, topics.control])
        func reader(_ topic: String) throws(KafkaFailure) -> TopicReader? {
            counts[topic] == nil ? nil : try TopicReader(settings: settings.kafka, topic: topic, follow: true)
        }
        let (feeds, orders) = (try reader(topics.state), try reader(topics.control))
        var known = StoredFeeds()
        while state.withLock({ .now - $0.lastLook < Self.interest }) {
            for read in try orders?.next(timeout: .milliseconds(1)) ?? [] { known.takeOrder(read.record) }
            for read in try feeds?.next(timeout: .seconds(1)) ?? [] { known.take(read.record) }
            guard feeds?.isAtEnd ?? true, orders?.isAtEnd ?? true else { continue }
            // Nothing follows feeds yet: a later look may find their topic.
            if feeds == nil { return known }
            state.withLock { $0.known = known }
        }
        return nil
    }
}
