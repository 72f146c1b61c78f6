import ByteText
import HubEmulator
import HubTelemetry
import NewsModel
import NotificationHub
import Testing

/// Ten thousand sends to an emulated hub that reports them step by step, and some never.
struct HubAgreementTests {
    private static let key = AccessKey("bmV3c3Jvb20taHViLXRlc3Qta2V5LTAwMDEhISEhISE=")
    private static let sends = 10_000

    /// A hub and a client with tokens for it.
    private final class Hub {
        var hub: EmulatedHub
        private var token = AccessToken(resource: "http://news.example/", keyName: "all", key: key)

        init() throws {
            let rule = AccessRule(
                name: "all", primaryKey: key, secondaryKey: AccessKey("second"), rights: [.listen, .send, .manage])
            var settings = HubSettings(name: try HubName("news"), rules: [rule], seed: 5)
            settings.telemetry.hiddenMilliseconds = 4_000
            settings.telemetry.enqueuedMilliseconds = 10_000
            settings.telemetry.processingMilliseconds = 60_000
            settings.telemetry.missingMillionths = 10_000
            hub = EmulatedHub(settings: settings)
        }

        func call(
            _ method: String, _ path: String, headers: HubHeaders = [:], body: String = "", at now: Instant
        ) -> HubHTTPResponse {
            var fields = headers
            fields.append("Host", "news.example")
            fields.append("Authorization", token.headerValue(at: now.milliseconds / 1000))
            return hub.handle(
                HubHTTPRequest(method: method, target: "/news" + path, headers: fields, body: Array(body.utf8)),
                at: HubTime(milliseconds: now.milliseconds))
        }

        func word(_ id: String, at now: Instant) -> HubWord {
            let answer = call("GET", "/messages/\(id)?api-version=2016-07", at: now)
            let fields = answer.headers["Retry-After"].map { [HeaderField("Retry-After", $0)] } ?? []
            let reply = HubReply(
                status: answer.status, fields: fields, body: answer.body, now: now.milliseconds / 1000)
            return HubWord(reply, body: answer.body)
        }
    }

    @Test func `telemetry of ten thousand sends agrees with the hub's own count`() throws {
        let hub = try Hub()
        var random = SeededRandom(seed: 3)
        let start = TestTelemetryState.start.wall
        let categories = ["World", "Sports", "Science", "Nobody"]
        for device in 0..<24 {
            let answer = hub.call(
                "PUT", "/installations/i\(device)?api-version=2020-06", headers: ["Content-Type": "application/json"],
                body:
                    #"{"installationId":"i\#(device)","platform":"apns","pushChannel":"\#(100_000 + device)","tags":["\#(categories[device % 3])"]}"#,
                at: start)
            #expect(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
        }
        hub.hub.setOutcome(.expiredChannel, handle: "\(100_000 + 3)")
        hub.hub.setOutcome(.invalidCredentials, handle: "\(100_000 + 4)")
        var room = TestTelemetryState(perSecond: 1_000, openMax: 20_000) { id, now in hub.word(id, at: now.wall) }
        var batch: [ResultRecord] = []
        for number in 0..<Self.sends {
            let tag = categories[Int(random.next() % 4)]
            let answer = hub.call(
                "POST", "/messages?api-version=2020-06",
                headers: [
                    "ServiceBusNotification-Format": "apple", "ServiceBusNotification-Tags": tag,
                    "Content-Type": "application/json;charset=utf-8",
                ], body: "{\"aps\":{\"alert\":\"\(number)\"}}", at: room.now.wall)
            let id = try #require(answer.headers["Location"].flatMap { NotificationID.inLocation($0) })
            _ = hub.hub.deliver(limit: 1_000, at: HubTime(milliseconds: room.now.wall.milliseconds))
            batch.append(
                TestTelemetryState.result(number, at: room.now.wall) {
                    ($0.notificationID, $0.platform, $0.tags) = (id, .apple, [tag])
                })
            if batch.count == 500 {
                room.come(batch)
                batch = []
                room.pass(.seconds(1))
            }
        }
        room.pass(.seconds(3_000))
        #expect(room.committed == [0: Int64(Self.sends)])

        // The hub's own state of each send.
        let finals = Dictionary(room.records.filter(\.isFinal).map { ($0.notificationID, $0) }) { $1 }
        #expect(finals.count == Self.sends)
        var (told, silent, partial) = (0, 0, 0)
        var devices: [String: Int64] = [:]
        for number in 1...Self.sends {
            let message = try #require(hub.hub.received[number])
            let record = try #require(finals[message.id])
            if record.state == .unknown {
                silent += 1
                #expect(hub.word(message.id, at: room.now.wall) == .nothing)
                continue
            }
            told += 1
            #expect(record.state.rawValue == message.telemetry.state.rawValue)
            let own = Dictionary(grouping: message.telemetry.counts) { $0.outcome.rawValue }
                .mapValues { Int64($0.reduce(0) { $0 + $1.count }) }
            let ours = Dictionary(record.counts.flatMap(\.outcomes).map { ($0.name, $0.count) }) { $0 + $1 }
            #expect(ours == own)
            devices.merge(own) { $0 + $1 }
        }
        partial = room.records.count { !$0.isFinal }
        #expect(told + silent == Self.sends && silent > 50 && silent < 200)
        // The hub reported partial counts.
        #expect(partial > Self.sends / 2)
        let figures = room.state.figures
        for (outcome, count) in devices {
            let counted = figures.outcomes.filter { $0.key.outcome == outcome }.values.reduce(0) { $0 + $1.count }
            #expect(counted == count, "\(outcome)")
        }
        #expect((devices["Success"] ?? 0) > 10_000)
        #expect(devices["InvalidCredentials"] ?? 0 > 0)
        #expect(figures.withoutTarget.keys.sorted() == ["Nobody"])
    }
}
