import ByteText
import NewsModel
import Testing

@testable import Feeds

@Suite struct HostQueueTests {
    private let start = FollowedFeed.start

    @Test func `a host gets one request at a time, a gap after it, and its feeds in order`() {
        var queue = HostQueue(gap: .seconds(2), inFlightMax: 9)
        for feed in ["a", "b"] { queue.add(feed, host: "h", at: start) }
        #expect(queue.next(at: start)?.feed == "a")
        #expect(queue.next(at: start + .seconds(60)) == nil)
        #expect(queue.wakeAt == nil)
        queue.ended("h", at: start + .seconds(60))
        #expect(queue.wakeAt == start + .seconds(62))
        #expect(queue.next(at: start + .seconds(61)) == nil)
        #expect(queue.next(at: start + .seconds(62))?.feed == "b")
    }

    @Test func `at most inFlightMax requests are in flight`() {
        var queue = HostQueue(gap: .seconds(1), inFlightMax: 2)
        for feed in ["a", "b", "c"] { queue.add(feed, host: feed, at: start) }
        #expect(queue.next(at: start)?.feed == "a")
        #expect(queue.next(at: start)?.feed == "b")
        #expect(queue.next(at: start) == nil)
        queue.ended("a", at: start)
        #expect(queue.next(at: start)?.feed == "c")
        #expect(queue.inFlight == 2)
    }

    @Test func `a host that asks for a pause gets no requests during it`() {
        var queue = HostQueue(gap: .seconds(1), inFlightMax: 2)
        queue.block("h", until: start + .seconds(900))
        queue.block("h", until: start + .seconds(60))
        queue.add("a", host: "h", at: start)
        #expect(queue.blockedUntil("h", at: start) == start + .seconds(900))
        #expect(queue.next(at: start + .seconds(899)) == nil)
        #expect(queue.next(at: start + .seconds(900))?.feed == "a")
        #expect(queue.blockedUntil("other", at: start) == nil)
    }

    @Test func `a feed that is removed gets no turn`() {
        var queue = HostQueue(gap: .seconds(1), inFlightMax: 2)
        queue.add("a", host: "h", at: start)
        queue.remove("a", host: "h")
        #expect(queue.next(at: start) == nil)
    }

    // MARK: - Intervals

    @Test(
        arguments: [
            (nil, false, 60), (nil, true, 60), (100, true, 60), (2_400, true, 600), (90_000, true, 1_800),
            (2_400, false, 1_200), (nil, false, 1_200),
        ] as [(Int?, Bool, Int)])
    func `the interval is a quarter of the usual gap, and longer while nothing is new`(
        _ gap: Int?, _ isChanged: Bool, _ seconds: Int
    ) {
        var schedule = Schedule(min: .seconds(60), max: .seconds(1_800))
        schedule.medianGap = gap.map { .seconds($0) }
        schedule.last = seconds == 1_200 ? .seconds(800) : nil
        #expect(schedule.next(isChanged: isChanged, at: start).interval == .seconds(seconds))
    }

    @Test func `news within the last quarter of an hour halves the interval`() {
        var schedule = Schedule(min: .seconds(60), max: .seconds(1_800), medianGap: .seconds(2_400))
        schedule.lastNewAt = start - .seconds(899)
        #expect(schedule.next(isChanged: true, at: start).interval == .seconds(300))
        schedule.lastNewAt = start - .seconds(900)
        #expect(schedule.next(isChanged: true, at: start).interval == .seconds(600))
    }

    @Test func `a publisher's max-age lengthens the interval, but not beyond the maximum`() {
        var schedule = Schedule(min: .seconds(60), max: .seconds(1_800))
        schedule.freshFor = .seconds(300)
        #expect(schedule.next(isChanged: true, at: start).interval == .seconds(300))
        schedule.freshFor = .seconds(86_400)
        #expect(schedule.next(isChanged: true, at: start).interval == .seconds(1_800))
    }

    @Test(arguments: [(240, 300), (4_800, 1_800)])
    func `a proven hub lengthens the interval, but not beyond the maximum`(gap: Int, seconds: Int) {
        var schedule = Schedule(min: .seconds(60), max: .seconds(1_800), medianGap: .seconds(gap))
        schedule.webSubFactor = PushTrust.factor
        #expect(schedule.next(isChanged: true, at: start).interval == .seconds(seconds))
    }

    @Test(arguments: [(0, 120), (1, 120), (3, 480), (11, 86_400), (.max, 86_400)] as [(Int, Int)])
    func `each failure doubles the pause, up to a day`(_ failures: Int, _ seconds: Int) {
        #expect(Schedule.afterFailure(failures, min: .seconds(60)).interval == .seconds(seconds))
    }

    /// The test vectors of Kafka's own clients.
    @Test(
        arguments: [
            ("21", -973_932_308), ("foobar", -790_332_482), ("a-little-bit-long-string", -985_981_536),
            ("a-little-bit-longer-string", -1_486_304_829),
            ("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971), ("abc", 479_470_107),
        ] as [(String, Int32)])
    func `feeds are distributed by the hash of Kafka's clients`(_ key: String, _ hash: Int32) {
        let found = key.withBytes { (bytes) -> UInt32 in Murmur2.hash(bytes) }
        #expect(Int32(bitPattern: found) == hash)
        #expect(Murmur2.partition(of: key, among: 7) == (hash & 0x7FFF_FFFF) % 7)
        #expect(Murmur2.partition(of: key, among: 0) == 0)
    }
}
