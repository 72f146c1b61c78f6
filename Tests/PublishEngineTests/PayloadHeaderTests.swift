import KafkaModel
import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

struct PayloadHeaderTests {
    private func fields(_ event: NewsEvent, _ platform: Platform, lane: Int = 0) throws -> [String: String] {
        let request = try PayloadSamples.payload(event, platform, lane: lane).request
        return Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.value) })
    }

    @Test(arguments: [Platform.apple, .template])
    func `Apple's headers go with native and template sends`(platform: Platform) throws {
        #expect(
            try fields(PayloadSamples.event(), platform) == [
                "apns-push-type": "alert", "apns-priority": "5", "apns-collapse-id": "story-1",
                "apns-expiration": "1763690900", "ServiceBusNotification-Apns-Expiry": "2025-11-21T02:08:20.000Z",
            ])
    }

    @Test
    func `Windows, Windows Phone and Baidu have headers of their own`() throws {
        #expect(
            try fields(NewsEvent(id: "42", headline: "H"), .windows)
                == ["X-WNS-Type": "wns/toast", "X-WNS-Tag": "42", "X-WNS-TTL": "900"])
        #expect(
            try fields(PayloadSamples.event(), .windowsphone)
                == ["X-WindowsPhone-Target": "toast", "X-NotificationClass": "2"])
        #expect(try fields(PayloadSamples.event(), .baidu) == ["X-Baidu-Message-Type": "1"])
        for platform in [Platform.fcmv1, .gcm, .adm, .browser, .xiaomi] {
            #expect(try fields(PayloadSamples.event(), platform).isEmpty)
        }
    }

    @Test(
        arguments: [
            (nil, 0, "5"), (1, 0, "10"), (3, 0, "10"), (4, 0, "5"), (9, 0, "5"), (nil, 1, "5"), (1, 1, "5"),
            (5, 2, "5"),
        ] as [(Int?, Int, String)])
    func `priority follows urgency and lane`(urgency: Int?, lane: Int, priority: String) throws {
        var event = PayloadSamples.event()
        event.urgency = urgency
        #expect(try fields(event, .apple, lane: lane)["apns-priority"] == priority)
    }

    @Test func `the settings decide the class of each urgency`() throws {
        var settings = PayloadSettings(templates: .standard)
        settings.interruption = Interruption([0: .breaking, 1: .routine, 9: .quiet])
        let builder = try PayloadBuilder(settings)
        func priority(_ urgency: Int?, lane: Int = 0) -> String? {
            var event = PayloadSamples.event()
            event.urgency = urgency
            return builder.payload(
                event, routing: PayloadSamples.world, platform: .apple, lane: LaneID(lane)
            ).request.fields.first { $0.name == "apns-priority" }?.value
        }
        #expect([nil, 1, 2, 4, 9].map { priority($0) } == ["10", "5", "10", "5", "5"])
        #expect(priority(nil, lane: 1) == "5")
    }

    @Test func `quiet by urgency needs notifications that can be silent`() {
        var settings = PayloadSettings()
        settings.interruption = Interruption([8: .quiet])
        #expect(settings.problems.map(\.path) == [["payload", "interruption"]])
        settings.templates = .standard
        #expect(settings.problems.isEmpty)
    }

    @Test func `the time to live of a class counts before that of a lane, and both before the usual one`() throws {
        var settings = PayloadSettings()
        settings.timeToLive.lanes = [LaneID(1): .seconds(60)]
        settings.timeToLive.classes = [.breaking: .seconds(30), .quiet: .seconds(90)]
        let builder = try PayloadBuilder(settings)
        func seconds(_ urgency: Int?, lane: Int, isQuiet: Bool = false) -> String? {
            var event = PayloadSamples.event()
            event.urgency = urgency
            return builder.payload(
                event, routing: PayloadSamples.world, platform: .windows, lane: LaneID(lane), isQuiet: isQuiet
            ).request.fields.first { $0.name == "X-WNS-TTL" }?.value
        }
        #expect(seconds(1, lane: 0) == "30" && seconds(1, lane: 1) == "60" && seconds(nil, lane: 0) == "86400")
        #expect(seconds(1, lane: 1, isQuiet: true) == "90")
    }

    @Test(arguments: [
        ("story-1", "story-1"), (String(repeating: "a", count: 64), String(repeating: "a", count: 64)),
        ("urn:newsml:example.com:2026:a/b?c=d&e", "urn:newsml:example.com:2026:a/b?c=d&e"),
        // printf '%s' a b | openssl dgst -sha256 -binary | basenc --base64url
        ("a b", "~yGh6CKpdbtIEQyj6aml6uOltw0KR6MIDSujDjm_MbWU"),
    ])
    func `a collapse id is the story, or stands for it`(story: String, id: String) {
        #expect(CollapseID.name(of: story) == id)
    }

    static let stories = [
        "", " ", "a", "a ", "~a", "~", "é", "a\r\nx: y", "a\u{0}", String(repeating: "a", count: 64),
        String(repeating: "a", count: 65), String(repeating: "a", count: 15), String(repeating: "a", count: 16),
        String(repeating: "x", count: 100_000), "日本", "A", "a-b", "a_b", "0", String(repeating: "é", count: 40),
        CollapseID.name(of: "é"), CollapseID.shortName(of: "é"),
    ]

    @Test
    func `ids fit their headers and no two stories share one`() {
        let ids = Self.stories.map(CollapseID.name)
        #expect(Set(ids).count == Self.stories.count)
        #expect(ids.allSatisfy { (1...64).contains($0.utf8.count) && HeaderField("apns-collapse-id", $0).isSendable })
        #expect(ids.allSatisfy { !$0.contains(" ") })
        let short = Self.stories.map(CollapseID.shortName)
        #expect(Set(short).count == Self.stories.count)
        #expect(short.allSatisfy { (1...16).contains($0.count) })
        #expect(short.allSatisfy { $0.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) } })
    }

    @Test(arguments: Platform.allCases, stories)
    func `every header can be sent whatever the event holds`(platform: Platform, story: String) throws {
        var event = PayloadSamples.event()
        event.story = story
        event.id = story
        event.link = "x\r\nEvil: 1"
        let request = try PayloadSamples.payload(event, platform).request
        #expect(request.fields.allSatisfy { $0.isSendable })
        #expect(!request.tags.isEmpty)
    }

    @Test(
        arguments: [
            (since: nil, expiresAt: nil, ttl: 86_400, expiration: nil),
            (0, nil, 86_400, "1763776400"), (0, 60, 60, "1763690060"), (0, 0, 1, "1763690001"),
            (0, -60, 1, "1763690001"), (0, 31_536_000, 86_400, "1763776400"), (nil, 60, 86_400, "1763690060"),
        ] as [(since: Int64?, expiresAt: Int64?, ttl: Int, expiration: String?)])
    func `an expiry is a time for Apple and a bounded number of seconds for others`(
        since: Int64?, expiresAt: Int64?, ttl: Int, expiration: String?
    ) throws {
        let base = PayloadSamples.since
        let builder = try PayloadBuilder()
        var event = PayloadSamples.event()
        event.expiresAt = expiresAt.map { base + .seconds($0) }
        func request(_ platform: Platform) -> SendRequest {
            builder.payload(
                event, routing: PayloadSamples.world, platform: platform, lane: LaneID(0),
                since: since.map { base + .seconds($0) }
            ).request
        }
        #expect(request(.apple).fields.first { $0.name == "apns-expiration" }?.value == expiration)
        #expect(request(.windows).fields.first { $0.name == "X-WNS-TTL" }?.value == "\(ttl)")
        #expect(String(decoding: request(.fcmv1).body, as: UTF8.self).contains("\"ttl\":\"\(ttl)s\""))
    }

    @Test(arguments: [(10_800, 3_600), (14_500, 1)] as [(sentAt: Int64, ttl: Int)])
    func `an event that waited to be sent lives for the rest of its time`(sentAt: Int64, ttl: Int) throws {
        let base = PayloadSamples.since
        let builder = try PayloadBuilder()
        var event = PayloadSamples.event()
        event.expiresAt = base + .seconds(14_400)
        func request(_ platform: Platform) -> SendRequest {
            builder.payload(
                event, routing: PayloadSamples.world, platform: platform, lane: LaneID(0), since: base,
                sentAt: base + .seconds(sentAt)
            ).request
        }
        #expect(request(.apple).fields.first { $0.name == "apns-expiration" }?.value == "1763704400")
        #expect(request(.windows).fields.first { $0.name == "X-WNS-TTL" }?.value == "\(ttl)")
        event.expiresAt = nil
        #expect(request(.windows).fields.first { $0.name == "X-WNS-TTL" }?.value == "86400")
    }

    @Test(arguments: [Instant.distantPast, .distantFuture])
    func `no expiry traps`(expiry: Instant) throws {
        let builder = try PayloadBuilder()
        var event = PayloadSamples.event()
        event.expiresAt = expiry
        for since in [nil, Instant.distantPast, .distantFuture] {
            for platform in Platform.allCases {
                let request = builder.payload(
                    event, routing: PayloadSamples.world, platform: platform, lane: LaneID(0), since: since
                ).request
                #expect(request.fields.allSatisfy { $0.isSendable })
            }
        }
    }

    @Test(arguments: Platform.allCases)
    func `the same event gives the same request`(platform: Platform) throws {
        #expect(
            try PayloadSamples.payload(PayloadSamples.event(), platform)
                == PayloadSamples.payload(PayloadSamples.event(), platform))
    }
}
