import Feeds
import KafkaIO
import Logging
import NIOCore
import NIOPosix
import NewsModel
import Synchronization
import Testing

@testable import FeedIO

struct IngestCoreTests {
    @Test func `a hub that calls before the state topic is known is told to call again`() async throws {
        let fetcher = try TestFetcher()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let core = IngestCore(fetcher: fetcher.fetcher, loop: loop, log: Logger(label: "test"))
        let statuses = Mutex<[Int]>([])
        core.use { _, answer in statuses.withLock { $0.append(answer.status) } }
        let delivery = WebSubCall(path: "0a", kind: .delivery(headers: [], body: [1, 2, 3]))
        core.hand(.called(CallbackID(1), delivery))
        try await loop.submit {}.get()
        #expect(statuses.withLock(\.self) == [503])
        // Nothing of it is kept.
        core.begin(IngestSettings(), storingIn: MemoryFeedStore())
        try await loop.submit {}.get()
        #expect(statuses.withLock(\.self) == [503])
        try await loop.submit { core.end() }.get()
        await fetcher.close()
    }

    @Test func `a backfill lane that is added while the process runs needs a restart`() async throws {
        let fetcher = try TestFetcher()
        var ingest = IngestSettings()
        ingest.backfillLane = ""
        let topics = IngestTopics(state: "news.feeds", control: "news.control", lanes: ["live": "news.events"])
        let kafka = KafkaSettings(bootstrapServers: ["127.0.0.1:1"], group: "g")
        let service = IngestService(
            IngestService.Settings(kafka: kafka, ingest: ingest, topics: topics), fetcher: fetcher.fetcher,
            log: Logger(label: "test"))
        #expect(service.reload(ingest).isEmpty)
        ingest.backfillLane = "backfill"
        #expect(service.reload(ingest) == ["backfill"])
        await fetcher.close()
    }

    @Test(arguments: [(19, 19, nil), (20, 20, "not-stored"), (nil, 20, "state-not-read"), (nil, nil, nil)])
    func `a process whose writes are not taken or not read back is not ready`(
        unwritten: Int?, unread: Int?, code: String?
    ) {
        let reason = IngestService.reason(
            unwrittenFor: unwritten.map { .seconds($0) }, unreadFor: unread.map { .seconds($0) }, topic: "news.feeds")
        #expect(reason?.code == code)
    }

    @Test func `a stored event whose lane was renamed goes to the topic of the default lane`() {
        let topics = IngestTopics(
            state: "news.feeds", control: "news.control", lanes: ["first": "news.events", "late": "news.backfill"])
        #expect(topics.topic(ofLane: "late", otherwise: "first") == "news.backfill")
        #expect(topics.topic(ofLane: "live", otherwise: "first") == "news.events")
    }
}
