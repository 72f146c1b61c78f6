import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// The shell's time begins at 08:00 UTC.
struct QuietHoursTests {
    private static let night = DailyWindow(from: 7 * 60, to: 9 * 60, zone: .utc)
    private static let nightEnds = Duration.seconds(3_600)
    private static let templates = PayloadSettings.TemplateNames.standard

    private func policy(_ hours: QuietHours...) -> ContentPolicy { ContentPolicy(quietHours: hours) }

    private func body(_ sent: Sent) -> String { String(decoding: sent.request.body, as: UTF8.self) }

    @Test func `at night the quiet template of the same readers gets the news`() throws {
        var shell = try TestShell(
            templates: Self.templates,
            policy: policy(QuietHours(categories: ["World"], window: Self.night, action: .silent)))
        _ = shell.assign()
        let quiet = try #require(shell.publish(news("1")).sends.first)
        let loud = try #require(shell.publish(news("2", category: "Sports")).sends.first)
        #expect(quiet.request.tags == "World && breakingNewsQuiet")
        #expect(quiet.text.contains(#""quiet":"true""#))
        #expect(loud.request.tags == "Sports && breakingNews")
        #expect(!loud.text.contains("quiet"))
        #expect(shell.reply(201, to: quiet).results.first?.result.isQuiet == true)
        #expect(shell.reply(201, to: loud).results.first?.result.isQuiet == false)
        _ = shell.wait(Self.nightEnds)
        #expect(shell.publish(news("3")).sends.first?.request.tags == "World && breakingNews")
    }

    @Test(arguments: [
        (Platform.apple, #""interruption-level":"passive""#), (.fcmv1, #""priority":"NORMAL""#),
        (.gcm, #""priority":"normal""#),
        (.adm, #""priority":"normal""#), (.windows, #"<audio silent="true"/>"#), (.browser, #""quiet":"true""#),
        (.baidu, #""notification_basic_style":1"#),
    ])
    func `a native notification of the night makes no sound`(platform: Platform, says: String) throws {
        var shell = try TestShell(
            change: { $0.platforms = [platform] },
            policy: policy(QuietHours(window: Self.night, action: .silent, exceptUrgency: 2)))
        _ = shell.assign()
        let quiet = try #require(shell.publish(news("1")).sends.first)
        #expect(body(quiet).contains(says))
        #expect(!body(quiet).contains("sound"))
        let loud = try #require(shell.publish(news("2", #","urgency":2"#)).sends.first)
        #expect(!body(loud).contains(says))
        if platform == .apple {
            #expect(quiet.request.fields.contains(HeaderField("apns-priority", "5")))
            #expect(loud.request.fields.contains(HeaderField("apns-priority", "10")))
        }
        if platform == .windows {
            #expect(quiet.request.fields.contains(HeaderField("X-WNS-SuppressPopup", "true")))
        }
    }

    @Test func `an event that waited for its turn until quiet hours began is sent without a sound`() throws {
        var shell = try TestShell(
            change: { $0.connections = 1 }, templates: Self.templates,
            policy: policy(
                QuietHours(window: DailyWindow(from: 8 * 60 + 1, to: 9 * 60, zone: .utc), action: .silent)))
        _ = shell.assign()
        let first = try #require(shell.publish(news("1"), news("2")).sends.first)
        _ = shell.wait(.seconds(90))
        #expect(first.request.tags == "World && breakingNews")
        #expect(shell.reply(201, to: first).sends.first?.request.tags == "World && breakingNewsQuiet")
    }

    @Test func `delayed news leaves within ten minutes after the night, the newest version of a story only`() throws {
        var shell = try TestShell(
            change: { $0.lanes[0].maxAge = .seconds(900) },
            policy: policy(QuietHours(window: Self.night, action: .delay, exceptUrgency: 2)))
        _ = shell.assign()
        let flash = shell.publish(news("flash", #","urgency":1"#)).sends
        #expect(flash.count == 1)
        var actions = shell.publish(news("1", story: "s", version: 1), news("2"), news("3"))
        actions += shell.publish(news("1", story: "s", version: 2))
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == [.superseded])
        #expect(shell.wait(Self.nightEnds - .milliseconds(1)).sends.isEmpty)
        let morning = shell.wait(.seconds(601)).sends
        #expect(morning.count == 3)
        #expect(morning.contains { $0.text.contains("headline of 1") })
    }

    @Test func `dropped news ends as withheld and says why`() throws {
        var shell = try TestShell(policy: policy(QuietHours(categories: ["Sports"], window: Self.night, action: .drop)))
        _ = shell.assign()
        let actions = shell.publish(news("1", category: "Sports"))
        #expect(actions.sends.isEmpty)
        #expect(actions.outcomes == [.withheld])
        #expect(actions.results.first?.result.error?.code == "quiet-hours")
    }

    struct Mixture: Sendable {
        var world: QuietHours.Action?
        var sports: QuietHours.Action?
        var becomes: Treatment
    }

    @Test(arguments: [
        Mixture(world: nil, sports: nil, becomes: .send),
        Mixture(world: .silent, sports: nil, becomes: .sendSilently),
        Mixture(world: .drop, sports: nil, becomes: .sendSilently),
        Mixture(world: .delay, sports: nil, becomes: .sendSilently),
        Mixture(world: .drop, sports: .silent, becomes: .sendSilently),
    ])
    func `of several categories the mildest rule counts, and nobody who sleeps is woken`(_ mixture: Mixture) throws {
        let hours = [("World", mixture.world), ("Sports", mixture.sports)].compactMap { category, action in
            action.map { QuietHours(categories: [category], window: Self.night, action: $0) }
        }
        let rules = try ContentRules(
            payload: PayloadSettings(templates: Self.templates), policy: ContentPolicy(quietHours: hours))
        let event = NewsEvent(id: "1", headline: "h", categories: ["World", "Sports"])
        guard case .tagged(let routing) = rules.router.route(event) else { throw Unrouted() }
        let eight = try #require(Instant(rfc3339: "2027-01-15T08:00:00Z"))
        #expect(rules.treatment(of: event, routing, at: eight) == mixture.becomes)
    }

    private struct Unrouted: Error {}

    @Test func `windows that follow one another are one night`() throws {
        let hours = [(7, 9), (9, 11)].map {
            QuietHours(window: DailyWindow(from: $0.0 * 60, to: $0.1 * 60, zone: .utc), action: .delay)
        }
        let rules = try ContentRules(policy: ContentPolicy(quietHours: hours))
        let event = NewsEvent(id: "1", headline: "h", categories: ["World"])
        guard case .tagged(let routing) = rules.router.route(event) else { throw Unrouted() }
        let eight = try #require(Instant(rfc3339: "2027-01-15T08:00:00Z"))
        guard case .hold(let until) = rules.treatment(of: event, routing, at: eight) else { throw Unrouted() }
        #expect((Duration.seconds(3 * 3_600)..<(.seconds(3 * 3_600 + 600))).contains(until - eight))
    }

    @Test func `news that was too old before the night is not kept for the morning`() throws {
        var shell = try TestShell(
            change: { $0.lanes[0].maxAge = .seconds(900) },
            policy: policy(QuietHours(window: Self.night, action: .delay)))
        _ = shell.assign()
        let old = shell.record(news("1"), writtenAt: shell.wall - .seconds(901))
        let actions = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [old]))
        #expect(actions.outcomes == [.expired])
    }

    @Test func `a repeat of what may have been accepted is not held up by a night that began since`() throws {
        var shell = try TestShell(
            policy: policy(
                QuietHours(window: DailyWindow(from: 8 * 60 + 1, to: 9 * 60, zone: .utc), action: .drop)))
        _ = shell.assign()
        let first = try #require(shell.publish(news("1")).sends.first)
        _ = shell.wait(.seconds(90))
        var actions = shell.take(.reply(.unknown(SendFailure(.requestTimeout, "timeout")), to: first.id))
        actions += shell.wait(.seconds(60))
        #expect(actions.sends.count == 1)
        #expect(actions.outcomes.isEmpty)
    }

    @Test func `the replacement of a recalled notification makes no sound`() throws {
        var shell = try TestShell(templates: Self.templates)
        _ = shell.assign()
        let record = shell.record(news("1"), headers: [RecordHeader(HeaderName.replacement, "order")])
        let sent = shell.take(.records(TestShell.live, TestShell.first, TestShell.source, [record])).sends.first
        #expect(sent?.request.tags == "World && breakingNewsQuiet")
    }
}
