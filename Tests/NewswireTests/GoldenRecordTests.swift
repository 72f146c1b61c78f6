import Backfill
import ControlIO
import EditorialControl
import Foundation
import HubServer
import HubTelemetry
import KafkaIO
import KafkaModel
import NewsModel
import NewswireCommands
import NotificationHub
import TestSupport
import Testing

@testable import Feeds

/// Reads the records of every topic as released versions wrote them. They are kept for ever in `schemas/golden`, a folder for each
/// version.
struct GoldenRecordTests {
    private static let folder = Golden.folder
    private static let versions = Golden.versions

    /// A record as a line of JSON. Bytes that are no text are in base64.
    private struct Line: Codable {
        var key: String?
        var headers: [[String]]
        var value: String?

        init(_ record: SourceRecord) {
            key = record.key.map(Self.text)
            headers = record.headers.map { [$0.name, $0.value.map(Self.text) ?? ""] }
            value = record.value.map(Self.text)
        }

        private static func text(_ bytes: [UInt8]) -> String {
            String(validating: bytes, as: UTF8.self) ?? "base64:" + Data(bytes).base64EncodedString()
        }

        private static func bytes(_ text: String) -> [UInt8] {
            guard text.hasPrefix("base64:") else { return Array(text.utf8) }
            return Array(Data(base64Encoded: String(text.dropFirst(7))) ?? Data())
        }

        func record(at offset: Int) -> SourceRecord {
            SourceRecord(
                offset: Int64(offset), timestamp: Instant(milliseconds: 1_795_000_000_000), key: key.map(Self.bytes),
                value: value.map(Self.bytes),
                headers: headers.map { RecordHeader(name: $0[0], value: Self.bytes($0[1])) })
        }
    }

    private func records(_ version: String, _ name: String) throws -> [SourceRecord] {
        let file = Self.folder.appending(path: "\(version)/\(name).ndjson")
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").enumerated().map {
            try JSONDecoder().decode(Line.self, from: Data($0.element.utf8)).record(at: $0.offset)
        }
    }

    // MARK: Reading

    @Test func `there are records of a version`() { #expect(Self.versions.contains("0.1.0")) }

    @Test(arguments: versions) func `results are read, by people and by the ledger`(version: String) throws {
        let records = try records(version, "results")
            .sorted { ($0.key ?? []).lexicographicallyPrecedes($1.key ?? []) }
        let results = try records.map { try ResultRecord(decoding: try #require($0.value)) }
        let outcomes: [Outcome] = [.accepted, .unroutable, .held]
        #expect(results.map(\.eventID) == ["golden-1", "golden-2", "golden-3"])
        #expect(results.map(\.outcome) == outcomes)
        let first = try #require(results.first)
        #expect((first.story, first.categories, first.lane, first.run) == ("golden", ["World"], "live", "golden-run"))
        #expect(first.notificationID != nil && first.httpStatus == 201)
        #expect(results[1].error?.code == "unknown-category")
        let entries = records.compactMap { record in
            LedgerEntry(offset: record.offset, key: record.key, group: Array("newswire".utf8)) { name in
                record.headers.last { $0.name == name }?.value
            }
        }
        #expect(entries.map(\.outcome) == outcomes)
        #expect(entries.map(\.source.offset) == [0, 1, 2])
        #expect(entries.map(\.eventID) == results.map(\.eventID))
        #expect(entries.first?.version == "3")
    }

    @Test(arguments: versions) func `a dead letter is put back`(version: String) throws {
        let letter = try #require(try records(version, "dead-letters").first)
        let label = try #require(Redrive.label(letter))
        #expect((label.outcome, label.reason) == (.unroutable, "unknown-category"))
        let redrive = Redrive(topics: ["news.events": 1], group: "newswire", platforms: [.template])
        guard case .putBack(let record) = redrive.verdict(on: letter) else {
            Issue.record("the dead letter is refused")
            return
        }
        #expect((record.topic, record.key, record.value) == ("news.events", letter.key, letter.value))
    }

    @Test(arguments: versions) func `orders and signs of life are read`(version: String) throws {
        let readings = try records(version, "control").map(ControlRecord.read)
        #expect(readings.allSatisfy { $0.fault == nil && $0.record != nil })
        let orders = readings.compactMap { if case .stands(let order)? = $0.record { order } else { nil } }
        let recall = try #require(orders.first { $0.scope == .recall(story: "golden") })
        #expect((recall.by, recall.reason) == ("desk", "agency kill"))
        #expect(recall.until != nil)
        #expect(orders.contains { $0.scope == .stop(.lane("live")) })
        #expect(readings.contains { $0.record == .lifted(.stop(.lane("live"))) })
        #expect(readings.contains { if case .beat(let beat)? = $0.record { beat.appliedTo != nil } else { false } })
        #expect(readings.contains { if case .ended? = $0.record { true } else { false } })
    }

    @Test(arguments: versions) func `audit lines are read`(version: String) throws {
        let entries = try records(version, "audit").map { try AuditEntry(decoding: try #require($0.value)) }
        let actions = Set(entries.map(\.action))
        #expect(actions.isSuperset(of: [.start, .recall, .stop, .resume]))
        let given = try #require(entries.first { $0.action == .recall && $0.replica == nil })
        #expect((given.scope, given.by, given.reason) == ("recall/story/golden", "desk", "agency kill"))
        #expect(entries.contains { $0.action == .recall && $0.replica != nil && $0.applied != nil })
    }

    @Test(arguments: versions) func `a held event returns to its lane unchanged`(version: String) throws {
        let held = try #require(try records(version, "held").first)
        guard
            case .held(let event, _) = HeldRecord.read(
                key: held.key, hasValue: held.hasValue, headers: held.headers)
        else {
            Issue.record("the record is not read")
            return
        }
        #expect((event.eventID, event.because, event.lane) == ("golden-3", .embargo, "live"))
        #expect(event.due == Instant(rfc3339: "2100-01-01T00:00:00Z"))
        #expect(event.source.offset == 2 && event.identity != nil)
        let original = try #require(HeldRecord.original(held, because: .due))
        #expect(original.topic == "news.events" && original.value == held.value)
    }

    @Test(arguments: versions) func `the state of a feed is read`(version: String) throws {
        let parser = JSONParser(sizeMax: 1 << 20)
        defer { withExtendedLifetime(parser) {} }
        var found: Set<String> = []
        for record in try records(version, "feeds") {
            let name = String(decoding: record.key ?? [], as: UTF8.self)
            if name == "layout" { continue }
            let key = try #require(StateKey(name))
            try (record.value ?? []).withUnsafeBufferPointer { bytes in
                let object = try parser.object(in: bytes)
                switch key {
                case .feed(let name):
                    let state = FeedState(object)
                    #expect(name == "world" && state.primedAt != nil && state.url.hasPrefix("http://127.0.0.1:"))
                    found.insert("feed")
                case .entry(let feed, _):
                    let entry = try #require(EntryRecord(object))
                    #expect(feed == "world" && entry.state.headlinePrint != 0 && entry.state.firstSeen > 0)
                    if entry.name?.id == "world:new" { found.insert("alert") }
                }
            }
        }
        #expect(found == ["feed", "alert"])
    }

    @Test(arguments: versions) func `telemetry is read`(version: String) throws {
        let records = try records(version, "telemetry").map { try TelemetryRecord(decoding: try #require($0.value)) }
        let last = try #require(records.last)
        #expect((last.eventID, last.isFinal) == ("golden-1", true))
    }

    @Test(arguments: versions) func `an unfinished publication continues`(version: String) throws {
        let copy = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString).ndjson")
        let path = ProgressFile.path(for: copy.path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try FileManager.default.copyItem(
            at: Self.folder.appending(path: "\(version)/events.ndjson.newswire-progress"), to: URL(filePath: path))
        let progress = try #require(try ProgressFile(for: copy.path).earlier)
        #expect((progress.topic, progress.run, progress.published) == ("news.events", "golden-run", 3))
        #expect(progress.absent == [4...4])
    }

    // MARK: Writing

    private static let isWriting = ProcessInfo.processInfo.environment["NEWSWIRE_WRITE_GOLDEN"] != nil

    /// For a release: `NEWSWIRE_WRITE_GOLDEN=1 swift test --filter GoldenRecordTests` adds the folder of its version.
    @Test(.enabled(if: isWriting)) func `records of this version are written`() async throws {
        let topics = ["events", "results", "dead-letters", "control", "audit", "held", "feeds", "telemetry"]
        let room = try await ProgramRoom(topics: topics.map { ("news.\($0)", 1) })
        let atom = { @Sendable (entries: [String]) in
            let now = Instant(nanoseconds: Int64(Date().timeIntervalSince1970 * 1e9))
            let items = entries.map { "<entry><id>\($0)</id><title>\($0)</title><published>\(now)</published></entry>" }
            return #"<feed xmlns="http://www.w3.org/2005/Atom"><title>W</title>\#(items.joined())</feed>"#
        }
        let publisher = try await ScriptedPublisher.start { request in
            .status(200, body: atom(request.earlier == 0 ? ["old"] : ["new", "old"]).utf8)
        }
        let yaml = try String(contentsOf: room.folder.appending(path: "newswire.yaml"), encoding: .utf8)
        try room.write(
            yaml + "\ningest: {feeds: [{name: world, url: \"\(publisher.url("/w"))\", allowPrivate: [127.0.0.1]}]}"
                + "\ntelemetry: {topic: news.telemetry, listen: off}\n", to: "newswire.yaml")
        try room.write(
            #"""
            {"id": "golden-1", "story": "golden", "version": "3", "headline": "One", "category": "World", "language": "en"}
            {"id": "golden-2", "headline": "Two", "category": "Gardening"}
            {"id": "golden-3", "headline": "Three", "category": "World", "embargoUntil": "2100-01-01T00:00:00Z"}
            not an event

            """#, to: "events.ndjson")
        _ = try await room.run("publish", room.path("events.ndjson"), "--run", "golden-run", "--lane", "live")
        let running = try room.start("run")
        while try await room.run("results", "--json").output.split(separator: "\n").count < 3 {}
        let orders = [["stop", "lane:live"], ["resume", "lane:live"], ["recall", "golden"]]
        for order in orders {
            let ended = try await Program.run(
                order + ["--reason", "agency kill", "--by", "desk", "--config", room.path("newswire.yaml")],
                environment: room.environment)
            #expect(ended.status == 0, "\(ended.errors)")
        }
        running.terminate()
        #expect(try await running.ended().status == 0)
        _ = try await room.run("telemetry", "--until-caught-up")
        for _ in 0..<2 { _ = try await room.run("ingest", "--once") }

        let version = try #require(try await Program.run(["--version"]).output.split(separator: " ").dropFirst().first)
        let target = Self.folder.appending(path: String(version))
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for topic in topics.dropFirst() {
            let reader = try TopicReader(settings: room.broker.settings(group: "test"), topic: "news.\(topic)")
            var lines = ""
            while !reader.isAtEnd {
                for read in try reader.next() {
                    lines += String(decoding: try encoder.encode(Line(read.record)), as: UTF8.self) + "\n"
                }
            }
            try lines.write(to: target.appending(path: "\(topic).ndjson"), atomically: true, encoding: .utf8)
        }
        let progress = "events.ndjson.newswire-progress"
        try? FileManager.default.removeItem(at: target.appending(path: progress))
        try FileManager.default.copyItem(
            at: room.folder.appending(path: progress), to: target.appending(path: progress))
        await publisher.stop()
        await room.close()
    }
}
