import ByteText
import Foundation
import KafkaIO
import KafkaModel
import NewsModel
import Synchronization
import TestSupport
import Testing

/// Feeds that change from one request to the next, with a record of what they have published.
private final class ChangingFeeds: Sendable {
    private struct State {
        var chance: SeededRandom
        var isChanging = false
        /// Each feed's entries with their texts, newest first.
        var feeds: [String: [(id: String, texts: [String], date: String)]] = [:]
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(chance: SeededRandom(seed: seed))) }

    func change(_ on: Bool) { state.withLock { $0.isChanging = on } }

    /// The last texts of entries that appeared after the first reading, by event id.
    var expected: [String: String] {
        state.withLock { state in
            var expected: [String: String] = [:]
            for (feed, entries) in state.feeds {
                for entry in entries where entry.id.hasPrefix("new") {
                    expected["\(feed):\(entry.id)"] = entry.texts.last
                }
            }
            return expected
        }
    }

    func document(_ path: String) -> String {
        let feed = String(path.dropFirst())
        let entries = state.withLock { state in
            var entries =
                state.feeds[feed] ?? (0..<3).map { ("old\($0)", ["\(feed) backlog \($0)"], "2026-01-01T00:00:00Z") }
            if state.isChanging {
                if Int.random(in: 0..<2, using: &state.chance) == 0 {
                    let id = "new\(entries.count)"
                    entries.insert(
                        (
                            id, ["\(feed) \(id) text 0"],
                            "\(Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9)))"
                        ), at: 0)
                }
                let fresh = entries.indices.filter { entries[$0].id.hasPrefix("new") }
                if let place = fresh.randomElement(using: &state.chance) {
                    let entry = entries[place]
                    entries[place].texts.append("\(feed) \(entry.id) text \(entry.texts.count)")
                }
            }
            state.feeds[feed] = entries
            return entries
        }
        let items = entries.map {
            """
            <entry><id>\($0.id)</id><title>\($0.texts.last ?? "")</title><published>\($0.date)</published>\
            <updated>\($0.date)</updated><category term="World"/></entry>
            """
        }
        return #"<feed xmlns="http://www.w3.org/2005/Atom"><title>\#(feed)</title>\#(items.joined())</feed>"#
    }
}

@Suite(.serialized, .ownThread)
struct FeedKillTests {
    @Test(.enabled(if: isUnderFire, "\(underFireHint)"), .timeLimit(.minutes(15)))
    func `each version of each entry is written once while processes that share feeds are killed at random`()
        async throws
    {
        let count = scale("NEWSWIRE_FIRE_FEEDS", 50)
        let polls = scale("NEWSWIRE_FIRE_POLLS", 200)
        var chance = SeededRandom(seed: UInt64(scale("NEWSWIRE_FIRE_SEED", 7)))
        let feeds = ChangingFeeds(seed: chance.next())
        let publisher = try await ScriptedPublisher.start(host: "0.0.0.0") {
            .status(200, body: feeds.document($0.path).utf8)
        }
        // Each feed has its own host, because a host is requested at most once a second.
        let items = (0..<count).map {
            let host = "127.0.0.\(2 + $0 % 253)"
            return "    - {name: f\($0), url: \"\(publisher.url("/f\($0)", host: host))\", allowPrivate: [\(host)],"
                + " maxVersionsPerHour: 1000}"
        }
        let room = try await FireRoom(
            partitions: 4, topics: ["news.events", "news.backfill", "news.feeds"],
            """
            lanes: {live: {topics: [news.events]}, backfill: {topics: [news.backfill]}}
            ingest:
              interval: {min: 1s, max: 2s}
              listen: off
              feeds:
            \(items.joined(separator: "\n"))
            """)
        func ingest(_ arguments: String...) throws -> ChildProcess {
            try ChildProcess("newswire", ["ingest", "--config", room.configuration.path] + arguments, in: room.folder)
        }
        let first = try ingest("--once")
        #expect(first.wait() == 0, "\(first.output.suffix(2_000))")

        feeds.change(true)
        let begin = publisher.requests.count
        var running = [try ingest(), try ingest()]
        var kills = 0
        while publisher.requests.count < begin + polls {
            let target = publisher.requests.count + Int.random(in: 1...(polls / 8), using: &chance)
            while publisher.requests.count < target { moment() }
            // The kill then hits the work that follows an answer: intents are stored and events are written.
            usleep(UInt32.random(in: 0...100_000, using: &chance))
            let victim = Int.random(in: 0..<2, using: &chance)
            running[victim].signal(SIGKILL)
            running[victim].wait()
            running[victim] = try ingest()
            kills += 1
        }
        feeds.change(false)
        for process in running {
            // The process ignores signals before this line of its log.
            while process.isRunning, !process.output.contains("following feeds") { moment() }
            process.signal(SIGTERM)
        }
        for process in running { #expect(process.wait() == 0, "\(process.output.suffix(2_000))") }
        let last = try ingest("--once")
        #expect(last.wait() == 0, "\(last.output.suffix(2_000))")

        let written = try events(room)
        var latest: [String: String] = [:]
        var repeats = 0
        for (id, copies) in written {
            var versions: [String: [UInt8]] = [:]
            var order: [Int] = []
            for (version, bytes) in copies {
                repeats += versions[version] == nil ? 0 : 1
                #expect(versions[version] ?? bytes == bytes, "\(id) \(version) was written with two contents")
                if versions[version] == nil { order.append(try #require(Int(version))) }
                versions[version] = bytes
            }
            #expect(order == Array(1...order.count), "\(id) has versions \(order)")
            latest[id] = versions["\(order.count)"].flatMap { headline($0) }
        }
        print(
            "feed kill test: \(publisher.requests.count - begin) polls, \(kills) kills, \(written.count) entries, \(repeats) repeats"
        )
        #expect(latest == feeds.expected)
        await publisher.stop()
        await room.close()
    }

    private func headline(_ event: [UInt8]) -> String? {
        (try? JSONSerialization.jsonObject(with: Data(event)) as? [String: Any])?["headline"] as? String
    }

    /// The versions with their bytes, by event id, in the order of the topic.
    private func events(_ room: FireRoom) throws -> [String: [(String, [UInt8])]] {
        var found: [String: [(String, [UInt8])]] = [:]
        for topic in ["news.events", "news.backfill"] {
            let reader = try TopicReader(settings: room.kafka, topic: topic)
            while !reader.isAtEnd {
                for read in try reader.next() {
                    let value = try #require(read.record.value)
                    let event = try #require(try JSONSerialization.jsonObject(with: Data(value)) as? [String: Any])
                    let id = try #require(event["id"] as? String)
                    found[id, default: []].append((try #require(event["version"] as? String), value))
                }
            }
        }
        return found
    }
}
