import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Archive records have the header `nw-quiet`: they disturb nobody, or are withheld.
struct SilentBackfillTests {
    private static let silent = [RecordHeader(HeaderName.quiet, "true")]

    private func body(_ sent: Sent) -> String { String(decoding: sent.request.body, as: UTF8.self) }

    private func fields(_ sent: Sent) -> [String: String] {
        Dictionary(sent.request.fields.map { ($0.name, $0.value) }) { $1 }
    }

    @Test func `in template mode the quiet template of the readers gets it, and the result says so`() throws {
        var shell = try TestShell(templates: .standard)
        _ = shell.assign()
        let quiet = try #require(
            shell.publish(news("1", #","urgency":1"#), headers: Self.silent + [RecordHeader(HeaderName.run, "r")]).sends
                .first)
        #expect(quiet.request.tags == "World && breakingNewsQuiet")
        let result = try #require(shell.reply(201, to: quiet).results.first?.result)
        #expect(result.isQuiet)
        #expect(result.run == "r")
        let loud = try #require(shell.publish(news("2")).sends.first)
        #expect(loud.request.tags == "World && breakingNews")
    }

    @Test(arguments: [
        (Platform.apple, ["apns-push-type": "background", "apns-priority": "5"]), (.fcmv1, [:]), (.gcm, [:]),
        (.adm, [:]), (.windows, ["X-WNS-Type": "wns/raw"]),
    ])
    func `a native payload is data for the app, with nothing to show`(
        platform: Platform, headers: [String: String]
    ) throws {
        var shell = try TestShell(change: { $0.platforms = [platform] })
        _ = shell.assign()
        let sent = try #require(shell.publish(news("1", #","urgency":1"#), headers: Self.silent).sends.first)
        for (name, value) in headers { #expect(fields(sent)[name] == value) }
        let tree = try #require(PayloadSamples.json(sent.request.body))
        #expect(body(sent).contains("headline of 1"))
        for loud in ["\"alert\"", "\"notification\"", "\"sound\"", "<toast", "\"badge\""] {
            #expect(!body(sent).contains(loud), "\(body(sent))")
        }
        switch platform {
        case .apple: #expect((tree["aps"] as? [String: Int]) == ["content-available": 1])
        case .fcmv1: #expect(body(sent).contains(#""priority":"NORMAL""#))
        case .windows: #expect(sent.request.contentType == "application/octet-stream")
        default: #expect(body(sent).contains(#""priority":"normal""#))
        }
        #expect(shell.reply(201, to: sent).results.first?.result.isQuiet == true)
    }

    @Test(arguments: [[Platform.template], [.browser], [.apple, .xiaomi], [.windowsphone], [.baidu]])
    func `a silent event is withheld with a reason if devices would ring`(platforms: [Platform]) throws {
        var shell = try TestShell(change: { $0.platforms = platforms })
        _ = shell.assign()
        let actions = shell.publish(news("1"), headers: Self.silent)
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == platforms.map { _ in .withheld })
        #expect(actions.results.first?.result.error?.code == "would-ring")
        #expect(actions.results.first?.result.error?.detail.contains("these devices would ring") == true)
        #expect(shell.publish(news("2")).sends.count == platforms.count)
    }

    @Test func `a recall in an archive recalls, whether or not devices would ring`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let actions = shell.publish(news("1", status: "canceled"), headers: Self.silent)
        #expect(actions.outcomes == [.canceled])
        #expect(shell.publish(news("1")).outcomes == [.canceled])
    }

    @Test(arguments: [(QuietHours.Action.drop, Outcome.withheld), (.silent, .accepted)])
    func `quiet hours may say more, and never less`(action: QuietHours.Action, outcome: Outcome) throws {
        let night = DailyWindow(from: 7 * 60, to: 9 * 60, zone: .utc)
        var shell = try TestShell(
            templates: .standard,
            policy: ContentPolicy(quietHours: [QuietHours(window: night, action: action, exceptUrgency: 2)]))
        _ = shell.assign()
        var actions = shell.publish(news("1"), headers: Self.silent)
        if let sent = actions.sends.first { actions = shell.reply(201, to: sent) }
        #expect(actions.outcomes == [outcome])
        // The event's urgency lets it pass by night, without a sound.
        let urgent = shell.publish(news("2", #","urgency":1"#), headers: Self.silent).sends.first
        #expect(urgent?.request.tags == "World && breakingNewsQuiet")
    }
}
