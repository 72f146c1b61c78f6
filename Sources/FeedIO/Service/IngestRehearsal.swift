public import Feeds
import Foundation
import KafkaIO
import KafkaModel
public import Logging
import NIOCore
import NIOPosix
import NewsModel

/// Polls every feed once and shows what would be written. Writes nothing, not even state.
public enum IngestRehearsal {
    /// - Parameters:
    ///   - show: called for each event, in order within a feed.
    /// - Returns: the status of the feeds afterwards.
    /// - Throws: if Kafka cannot be read.
    public static func run(
        _ settings: IngestService.Settings, fetcher: Fetcher, log: Logger,
        show: @escaping @Sendable (_ lane: String, FeedEvent) -> Void
    ) async throws -> [FeedStatus] {
        var ingest = settings.ingest
        // Asking a hub for deliveries would change something at the hub.
        ingest.webSubURL = nil
        ingest.isRehearsal = true
        ingest.writer = UUID().uuidString
        let known = try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try Known(settings) }) }
        }
        ingest.partitions = known.partitions
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let core = IngestCore(fetcher: fetcher, loop: loop, log: log)
        core.begin(ingest, storingIn: DryFeedStore(show: show, hand: { [weak core] in core?.hand($0) }))
        for input in known.inputs { core.hand(input) }
        // Waits until the loop has handled the inputs, because it may start a scheduled task before earlier submissions.
        try await loop.submit {}.get()
        let statuses = try await core.pollOnce { _ in true }.get()
        core.end()
        return statuses
    }

    /// The contents of the topics.
    private struct Known: Sendable {
        var partitions: Int32 = 1
        var inputs: [IngestInput] = []

        /// Blocks while the topics are read.
        init(_ settings: IngestService.Settings) throws(KafkaFailure) {
            let topics = settings.topics
            let counts = try KafkaAdmin(settings: settings.kafka).partitionCounts(of: [topics.state, topics.control])
            if counts[topics.control] != nil {
                var stopped: Set<String> = []
                let reader = try TopicReader(settings: settings.kafka, topic: topics.control)
                while !reader.isAtEnd {
                    for read in try reader.next() { StoppedFeeds.apply(read.record, to: &stopped) }
                }
                inputs.append(.stopped(stopped))
            }
            // Without a state topic, every feed is new.
            let count = Int32(clamping: counts[topics.state] ?? 1)
            partitions = count
            inputs.append(.assigned(Array(0..<count)))
            if counts[topics.state] != nil {
                partitions = try StateLayout.read(settings.kafka, topic: topics.state)?.partitions ?? count
                let books = StateBooks(layout: StateLayout(partitions: partitions), topic: topics.state)
                let reader = try TopicReader(settings: settings.kafka, topic: topics.state)
                while !reader.isAtEnd {
                    for read in try reader.next() {
                        inputs += books.translate(.records(partition: read.partition.partition, [read.record]))
                    }
                }
            }
            inputs += (0..<count).map { .restored(partition: $0) }
        }
    }
}
