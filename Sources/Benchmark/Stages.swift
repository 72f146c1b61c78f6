import HubIO
import KafkaModel
import NIOCore
import NewsModel
import NotificationHub
import PublishEngine
import PublisherService

/// The steps in the life of an event, in order.
struct Stages {
    let all: [Stage]

    init() throws {
        guard let event = News.event(0) else { throw BenchmarkFailure("the sample event cannot be decoded") }
        let router = try Router()
        guard case .tagged(let routing) = router.route(event) else { throw BenchmarkFailure("no category") }
        let builder = try PayloadBuilder()
        let ownBuilder = try PayloadBuilder(Self.ownPayload)
        let record = News.record(0)
        let decoder = NewsDecoder()
        let request = builder.payload(
            event, routing: routing, platform: .template, lane: LaneID(0)
        ).request
        let target = SendTarget(endpoint: try HubEndpoint(parsing: "http://127.0.0.1:8090/"), hub: try HubName("news"))
        let reply = Array(
            """
            HTTP/1.1 201 Created\r\nServer: nginx\r\nDate: Sat, 21 Nov 2026 01:02:03 GMT\r\nContent-Length: 0\r\n\
            Location: http://127.0.0.1:8090/news/messages/NH-1-2-3?api-version=2015-04\r\nTrackingId: bench\r\n\r\n
            """.utf8)
        let key = AccessKey("c2VjcmV0")
        all =
            [
                Stage(name: "decode", allocationsMax: 5) { for _ in 0..<$0 { keep(try? decoder.decode(record)) } },
                Stage(name: "route", allocationsMax: 0) { for _ in 0..<$0 { keep(router.route(event)) } },
            ]
            + [(Platform.template, 5), (.apple, 4), (.fcmv1, 4), (.windows, 9)].map { platform, most in
                Stage(name: "build \(platform.rawValue)", allocationsMax: most) {
                    for _ in 0..<$0 {
                        keep(
                            builder.payload(
                                event, routing: routing, platform: platform, lane: LaneID(0)
                            ).request)
                    }
                }
            } + [
                Stage(name: "build apple as the operator wrote it", allocationsMax: 8) {
                    for _ in 0..<$0 {
                        keep(
                            ownBuilder.payload(event, routing: routing, platform: .apple, lane: LaneID(0)).request)
                    }
                },
                Stage(name: "request bytes", allocationsMax: 0) {
                    var writer = RequestWriter(target: target, userAgent: "newswire")
                    for _ in 0..<$0 {
                        keep(writer.write(request))
                        writer.reset()
                    }
                },
                Stage(name: "read reply", allocationsMax: 0) {
                    var reader = ReplyReader(headBytesMax: 16_384, bodyBytesMax: 65_536)
                    for _ in 0..<$0 {
                        keep(reader.read(reply.span))
                        reader.reset()
                    }
                },
                Stage(name: "result record", allocationsMax: 0) {
                    let result = Self.result(of: event, routing)
                    let owner = ResultOwner(process: 1)
                    var draft = RecordDraft()
                    for _ in 0..<$0 {
                        result.resultRecord(
                            in: &draft, topic: "news.results", group: "newswire", owner: owner, carrying: [])
                        keep(draft)
                    }
                },
                Stage(name: "engine, whole life of an event", allocationsMax: 15) { EngineLife.run(events: $0) },
                Stage(name: "mint token", allocationsMax: 24) {
                    for count in 0..<$0 {
                        keep(
                            SharedAccessSignature.token(
                                resource: "http://news.example/", keyName: "Send", key: key, expiresAt: Int64(count)))
                    }
                },
            ]
    }

    /// A body with the members of the built-in one.
    private static var ownPayload: PayloadSettings {
        var settings = PayloadSettings(mode: .native([.apple]))
        settings.native[.apple] = NativeBody(
            body: [
                "aps": [
                    "alert": ["title": .string("{{category}}"), "body": .string("{{headline}}")],
                    "sound": .string("default"), "badge": .number("1"), "thread-id": .string("{{category}}"),
                ],
                "url": .string("{{link}}"), "id": .string("{{id}}"), "story": .string("{{story}}"),
                "image": .string("{{image}}"), "summary": .string("{{summary}}"),
            ])
        return settings
    }

    private static func result(of event: NewsEvent, _ routing: Routing.Tagged) -> StoreRequest {
        let time = Instant(nanoseconds: 1_790_000_000_000_000_000)
        var result = ResultRecord(
            eventID: event.id, platform: .template, outcome: .accepted, lane: "live",
            source: .init(partition: TopicPartition(topic: "news.events", partition: 3), offset: 4711), settledAt: time)
        result.categories = routing.categories
        result.tags = routing.tags
        result.attempts = 1
        result.httpStatus = 201
        result.notificationID = "NH-1-2-3"
        result.trackingID = "bench"
        result.publishedAt = event.publishedAt
        result.latency = .init(queue: .microseconds(1500), hub: .microseconds(800), total: .microseconds(2300))
        return StoreRequest(
            delivery: DeliveryID(rawValue: 1), result: result, version: nil, identity: RecordIdentity(hash: 1),
            carried: [])
    }
}

/// Keeps the optimizer from removing the work.
@inline(never)
func keep<Value: ~Copyable>(_ value: borrowing Value) {}

struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
