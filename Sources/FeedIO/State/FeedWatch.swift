import Foundation
import KafkaIO
public import KafkaModel
import Synchronization

/// Follows the feeds' states on the topics, for the page of a process that follows no feed.
///
/// Reads only while the page is open, because the same topic has the entries of thousands of feeds, and reading them
/// would take time from a process that publishes news.
public final class FeedWatch: Sendable {
    private struct State {
        var known: StoredFeeds?
        var isReading = false
        /// The earliest time of the next reading.
        var notBefore = ContinuousClock.now
        var lastLook = ContinuousClock.now
    }

    private let settings: IngestService.Settings
    private let notify: @Sendable (KafkaFailure) -> Void
    private let state = Mutex(State())

    /// Reading ends after this time without a look.
    private static let interest = Duration.seconds(300)
    /// Pause after a failure.
    private static let pause = Duration.seconds(30)
    /// Pause while nothing follows feeds.
    private static let lookInterval = Duration.seconds(5)

    /// - Parameter notify: receives failures, on the reading thread. Reading begins again with the next look.
    public init(_ settings: IngestService.Settings, notify: @escaping @Sendable (KafkaFailure) -> Void) {
        self.settings = settings
        self.notify = notify
    }

    /// Returns the feeds' states; `nil` until the topics have been read. Any thread; never waits.
    public func look() -> StoredFeeds? {
        let (known, begins) = state.withLock { state in
            let now = ContinuousClock.now
            // The result of an earlier look says nothing about the current state.
            if !state.isReading, now - state.lastLook >= Self.interest { state.known = nil }
            state.lastLook = now
            let begins = !state.isReading && state.notBefore <= now
            if begins { state.isReading = true }
            return (state.known, begins)
        }
        if begins { Thread.start("feeds") { [self] in run() } }
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

    /// - Returns: the states to keep; `nil` if nobody looks any more.
    private func follow() throws(KafkaFailure) -> StoredFeeds? {
        let topics = settings.topics
        let counts = try KafkaAdmin(settings: settings.kafka).partitionCounts(of: [topics.state, topics.control])
        func reader(_ topic: String) throws(KafkaFailure) -> TopicReader? {
            counts[topic] == nil ? nil : try TopicReader(settings: settings.kafka, topic: topic, follow: true)
        }
        let (feeds, orders) = (try reader(topics.state), try reader(topics.control))
        var known = StoredFeeds()
        while state.withLock({ .now - $0.lastLook < Self.interest }) {
            for read in try orders?.next(timeout: .milliseconds(1)) ?? [] { known.applyOrder(read.record) }
            for read in try feeds?.next(timeout: .seconds(1)) ?? [] { known.apply(read.record) }
            guard feeds?.isAtEnd ?? true, orders?.isAtEnd ?? true else { continue }
            // Nothing follows feeds yet. A later look may find their topic.
            if feeds == nil { return known }
            state.withLock { $0.known = known }
        }
        return nil
    }
}
