import KafkaModel
import NewsModel
import PublishEngine
import Testing

/// Lanes whose records need a schema that is not here yet.
struct EngineSchemaTests {
    private static let backfill = LaneID(1)
    private static let archive = TopicPartition(topic: "archive", partition: 0)
    private static let framed: [UInt8] = [0, 0, 0, 0, 7]

    private func shell() throws -> TestShell {
        var shell = try TestShell { settings in
            settings.lanes.append(LaneSettings(name: "backfill", topics: ["archive"]))
            settings.formats = EventFormats(usesRegistry: true)
        }
        _ = shell.assign()
        _ = shell.assign([Self.archive], lane: Self.backfill)
        return shell
    }

    /// A record that names schema 7, with JSON behind it.
    private func framed(_ id: String, _ shell: inout TestShell) -> SourceRecord {
        var record = shell.record("")
        record.value = Self.framed + Array(news(id).utf8)
        return record
    }

    @Test func `a lane waits for a schema in order, the others go on, and the wait has a reason`() throws {
        var shell = try shell()
        let records = [shell.record(news("a")), framed("b", &shell), shell.record(news("c")), framed("d", &shell)]
        let read = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, records))
        #expect(read.sends.map { $0.text.contains("headline of a") } == [true])
        #expect(read.schemas == [7])
        // Nothing is decoded again, and nothing is asked twice.
        #expect(shell.wait(.seconds(30)).schemas == [])
        #expect(shell.take(.registryFailed("refused")).schemas == [])
        let wait = try #require(shell.status.waits.first { $0.reason == .schema })
        #expect(wait.lane == TestShell.live && wait.isAlarming)
        #expect(wait.detail == "schema 7 is not here: refused")
        #expect(shell.now - wait.since == .seconds(30))
        let other = shell.publish(news("e"), lane: Self.backfill, partition: Self.archive)
        #expect(other.sends.count == 1)
        let known = shell.take(.schema(7, .json))
        #expect(known.sends.map(\.text).map { $0.contains("headline of b") } == [true, false, false])
        #expect(known.sends.count == 3)
        #expect(!shell.status.waits.contains { $0.reason == .schema })
    }

    @Test func `an unusable schema ends its records as undecodable, and those behind them leave`() throws {
        var shell = try shell()
        let records = [framed("a", &shell), shell.record(news("b"))]
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, records))
        let ended = shell.take(.schema(7, .unusable(Undecodable(.unusableSchema, "Protobuf"))))
        #expect(ended.outcomes == [.undecodable])
        #expect(ended.endings[0].result.error?.code == "unusable-schema")
        #expect(ended.sends.count == 1)
    }

    @Test func `a revoked partition ends the wait for its record`() throws {
        var shell = try shell()
        let waiting = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [framed("a", &shell)]))
        #expect(waiting.schemas == [7])
        _ = shell.take(.revoked(TestShell.live, TestShell.first, [TestShell.source], lost: false))
        let next = Generation(2)
        _ = shell.assign(generation: next)
        #expect(shell.publish(news("b"), generation: next).sends.count == 1)
        let again = shell.take(.records(TestShell.live, next, TestShell.source, [framed("c", &shell)]))
        #expect(again.schemas == [7])
    }

    @Test func `a drain does not wait for a schema, and commits nothing of its record`() throws {
        var shell = try shell()
        _ = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [framed("a", &shell)]))
        let drained = shell.take(.drain) + shell.wait(.seconds(60))
        #expect(drained.hasFinish)
        #expect(drained.commits.flatMap(\.self).allSatisfy { $0.offset == 0 })
    }
}

extension [Action] {
    /// The schemas that are requested.
    fileprivate var schemas: [UInt32] {
        compactMap { if case .fetchSchema(let id) = $0 { id } else { nil } }
    }
}
