import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Newsroom mistakes that reached millions of readers, and the rules that prevent each one here.
///
/// `NHK, 2018` plays with several processes: see `EditorialFireTests`.
struct IncidentTests {
    /// BBC, 25 June 2014: two test alerts went to millions, because tests had the channel of real news.
    @Test(arguments: [
        (#","test":true"#, nil as String?, "test"),
        (#","environment":"staging""#, "testers", "environment"),
        (#","environment":"staging","test":true"#, "testers", "environment"),
        ("", "testers", "environment"),
    ])
    func `BBC 2014: neither a test nor another environment's alert reaches production`(
        _ stamp: String, _ testTag: String?, _ code: String
    ) throws {
        var shell = try TestShell(
            policy: ContentPolicy(environment: "production", acceptsUnstamped: testTag == nil, testTag: testTag))
        _ = shell.assign()
        let actions = shell.publish(news("drill", stamp))
        #expect(actions.sends.isEmpty)
        #expect(actions.endings.map(\.result.outcome) == [.withheld])
        #expect(actions.endings.map(\.result.error?.code) == [code])
        #expect(shell.wait(.seconds(3_600)).sends.isEmpty)
    }

    /// A header marks a test for senders that cannot change the document.
    @Test func `BBC 2014: the header of another environment counts`() throws {
        var shell = try TestShell(policy: ContentPolicy(environment: "production"))
        _ = shell.assign()
        let header = RecordHeader(HeaderName.environment, "staging")
        let actions = shell.publish(news("drill"), headers: [header])
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == [.withheld])
    }

    /// CNN, 30 January 2018: one alert was repeated for minutes.
    @Test func `CNN 2018: one alert that is published for minutes leaves once`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let first = shell.publish(news("alert"))
        _ = shell.store(first)
        #expect(first.sends.count == 1)
        var actions = shell.store(shell.reply(201, to: first.sends[0]))
        for _ in 1...100 {
            let repeated = shell.publish(news("alert"))
            actions += repeated + shell.store(repeated)
            actions += shell.wait(.seconds(3))
        }
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes.count { $0 == .duplicate } == 100)
    }

    /// An upstream mistake may give every event its own id: then one command stops them.
    @Test func `CNN 2018: repeats under new ids end with one recall of their story`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let sends = shell.publish(news("alert-0", story: "alert")).sends
        _ = shell.publish(news("alert-1", story: "alert"))
        let recall = shell.take(.orders([.recall("alert")]))
        #expect(recall.applied.map(\.order) == ["O1"])
        var later: [Action] = []
        for number in 2...100 { later += shell.publish(news("alert-\(number)", story: "alert")) }
        later += shell.reply(503, to: sends[0])
        later += shell.wait(.seconds(600))
        #expect(later.sends.isEmpty)
        #expect(later.outcomes.allSatisfy { $0 == .canceled })
    }

    /// Daily Telegraph, 2 August 2017: an obituary marked HOLD HOLD HOLD was published.
    @Test(arguments: [
        #"{"id":"obit","headline":"HOLD","category":"World","status":"withheld"}"#,
        #"{"uri":"obit","headline":"HOLD","pubStatus":"withheld","subject":[{"name":"World"}]}"#,
        #"{"uri":"obit","headline":"HOLD","embargoed":"","subject":[{"name":"World"}]}"#,
    ])
    func `Telegraph 2017: an obituary on hold never leaves, however long it stands`(_ json: String) throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.assign()
        let actions = shell.publish(json)
        #expect(actions.outcomes == [.withheld])
        #expect(actions.holds.isEmpty)
        #expect((actions + shell.wait(.seconds(30 * 86_400))).sends.isEmpty)
    }

    /// A version on hold also stops the one that waits, on the held topic or in the queue.
    @Test func `Telegraph 2017: a waiting version leaves neither once the newest one is on hold`() throws {
        var shell = try TestShell { $0.holdsBeyond = .seconds(60) }
        _ = shell.assign()
        let embargo = #","embargoUntil":"2099-01-01T00:00:00Z""#
        let held = shell.publish(news("obit-1", story: "obit", version: 1, embargo))
        #expect(held.holds.map(\.event.story) == ["obit"])
        _ = shell.store(held)
        let onHold = shell.publish(news("obit-2", story: "obit", version: 2, status: "withheld"))
        #expect(onHold.outcomes == [.withheld])
        #expect(onHold.returns == ["obit superseded"])
        let header = RecordHeader(HeaderName.held, ReturnReason.superseded.rawValue)
        let returned = shell.publish(news("obit-1", story: "obit", version: 1, embargo), headers: [header])
        #expect(returned.sends.isEmpty)
        #expect(returned.outcomes == [.superseded])
    }

    /// NHK, 16 January 2018: a prepared missile alert was sent by a wrong click; its withdrawal took minutes.
    @Test func `NHK 2018: one order ends the alert wherever it waits`() throws {
        let archive = TopicPartition(topic: "archive", partition: 0)
        var shell = try TestShell { settings in
            settings.lanes.append(LaneSettings(name: "backfill", topics: ["archive"]))
            settings.rate = .init(perSecond: 1, burst: 1)
        }
        _ = shell.assign()
        _ = shell.assign([archive], lane: LaneID(1))
        for number in 1...20 {
            _ = shell.publish(news("missile-\(number)", story: "missile"))
            _ = shell.publish(news("again-\(number)", story: "missile"), lane: LaneID(1), partition: archive)
        }
        let recall = shell.take(.orders([.recall("missile")]))
        #expect(recall.applied.count == 1)
        #expect(recall.outcomes.count { $0 == .canceled } >= 38)
        #expect(recall.sends.isEmpty)
        #expect(shell.wait(.seconds(600)).sends.isEmpty)
    }

    /// BBC, June 2015: the rehearsal of an obituary leaked.
    @Test func `BBC 2015: a rehearsal goes to the testers and to nobody else`() throws {
        var shell = try TestShell(policy: ContentPolicy(environment: "production", testTag: "testers"))
        _ = shell.assign()
        let rehearsal = shell.publish(news("obit", story: "obit", #","test":true"#))
        let tags = rehearsal.sends.map(\.request.tags)
        #expect(tags.count == 1)
        #expect(tags.allSatisfy { $0.hasPrefix("testers") && !$0.contains("||") })
        #expect(rehearsal.sends.allSatisfy { $0.text.contains("TEST") })
        // The real obituary, later under the same id, is sent although it was rehearsed.
        _ = shell.store(shell.reply(201, to: rehearsal.sends[0]))
        #expect(shell.publish(news("obit", story: "obit")).sends.count == 1)
    }
}
