package import ByteText
import NotificationHub

// The result record as JSON: `schemas/news-result.schema.json`.

extension ResultRecord {
    /// The Kafka key of the result: the event's id or, when that is unknown, the record's position.
    public var key: String { eventID ?? source.description }

    /// The coordinates of the reported delivery, as in the `nw-source` header.
    public var coordinates: SourceCoordinates { SourceCoordinates(source: source, platform: platform) }

    /// Appends the record as one JSON object. Unknown values are left out, except `eventId`, which is then null.
    public func encode(into bytes: inout [UInt8]) {
        JSONWriter.write(into: &bytes) { json in
            json.object { json in encode(fieldsInto: &json) }
        }
    }

    /// Appends the record as one JSON object to reusable memory.
    package func encode(into bytes: inout GrowingBytes) {
        JSONWriter.write(into: &bytes) { json in
            json.object { json in encode(fieldsInto: &json) }
        }
    }

    private func encode(fieldsInto json: inout JSONWriter) {
        if let eventID { json.field("eventId", eventID) } else { json.null("eventId") }
        if story != eventID { json.field("story", story) }
        json.field("platform", platform.rawValue)
        json.field("outcome", outcome.rawValue)
        json.array("categories", of: Limits.list(categories))
        json.array("tags", of: Limits.list(tags))
        if !interests.isEmpty { json.array("interests", of: Limits.list(interests)) }
        if sends > 0 { json.field("sends", sends) }
        json.field("lane", lane)
        json.field("attempts", attempts)
        json.field("httpStatus", httpStatus)
        json.field("notificationId", notificationID?.cut(toBytes: Limits.hubText))
        json.field("trackingId", trackingID?.cut(toBytes: Limits.hubText))
        json.object("source") { json in
            json.field("topic", source.partition.topic)
            json.field("partition", Int(source.partition.partition))
            json.field("offset", source.offset)
        }
        json.field("publishedAt", publishedAt)
        json.field("settledAt", settledAt)
        if latency != Latency() {
            json.object("latencyMs") { json in
                // The clocks of several machines may differ; the schema does not allow negative durations.
                json.field("queue", milliseconds: latency.queue.map { max($0, .zero) })
                json.field("hub", milliseconds: latency.hub.map { max($0, .zero) })
                json.field("total", milliseconds: latency.total.map { max($0, .zero) })
            }
        }
        if let error {
            json.object("error") { json in
                json.field("code", error.code.cut(toBytes: Limits.code))
                json.field("detail", error.detail.cut(toBytes: Limits.detail))
            }
        }
        if afterRecall { json.field("afterRecall", true) }
        if !cut.isEmpty { json.array("cut", of: Limits.list(cut)) }
        if !leftOut.isEmpty { json.array("leftOut", of: Limits.list(leftOut)) }
        if !routing.isEmpty { encodeRouting(into: &json) }
        if isQuiet { json.field("quiet", Self.silent) }
        if isTest { json.field("test", true) }
        if !users.isEmpty { json.array("users", of: Limits.list(users)) }
        json.field("run", run?.cut(toBytes: Limits.code))
        json.field("format", format?.cut(toBytes: Limits.code))
        if !filled.isEmpty { json.array("filled", of: Limits.list(filled)) }
        json.field("language", language?.cut(toBytes: Limits.code))
    }

    /// Writes the first reasons that fit; no reason is cut.
    private func encodeRouting(into json: inout JSONWriter) {
        json.array("routing") { json in
            var room = Limits.routing
            for reason in routing {
                room -= reason.category.utf8.count + reason.because.utf8.count
                guard room >= 0 else { return }
                json.object { json in
                    json.field("category", reason.category)
                    json.field("because", reason.because)
                }
            }
        }
    }

    /// The value of `quiet`.
    private static let silent = "silent"

    /// Limits of the texts, in bytes of UTF-8, so that a result stays well below 32 KiB whatever the event and the hub
    /// contain.
    /// The event's id has its own limit (`EventLimits.id`) and is never cut, because the ledger compares it.
    private enum Limits {
        static let code = 128
        static let detail = 1_024
        /// The length of an id from the hub.
        static let hubText = 256
        /// One category or tag, and all of them together.
        static let name = 256
        static let names = 4_096
        /// The texts of all reasons together.
        static let routing = 256

        /// Returns the first names that fit.
        static func list(_ names: [String]) -> [String] {
            var room = Self.names
            if names.allSatisfy({
                room -= $0.utf8.count; return room >= 0 && $0.utf8.count <= name
            }) {
                return names
            }
            room = Self.names
            return names.map { $0.cut(toBytes: name) }.prefix {
                room -= $0.utf8.count; return room >= 0
            }
        }
    }

    /// Reads the form that `encode` writes; unknown members are ignored.
    ///
    /// - Throws: the problem, naming the field.
    public init(decoding bytes: [UInt8]) throws(Undecodable) {
        let parser = JSONParser()
        let fields = try JSONFields(bytes, parser)
        // The fields are views into the parser's memory.
        defer { withExtendedLifetime(parser) {} }
        let source = try fields.object("source").map { source throws(Undecodable) in
            Source(
                partition: TopicPartition(
                    topic: try source.required("topic", source.string("topic")),
                    partition: try source.required("partition", source.integer("partition"))),
                offset: try source.required("offset", source.integer("offset")))
        }
        self.init(
            eventID: try fields.string("eventId"),
            platform: try fields.required("platform", fields.word("platform")),
            outcome: try fields.required("outcome", fields.word("outcome")),
            lane: try fields.required("lane", fields.string("lane")),
            source: try fields.required("source", source),
            settledAt: try fields.required("settledAt", fields.instant("settledAt")))
        story = try fields.string("story")
        categories = try fields.strings("categories")
        tags = try fields.strings("tags")
        interests = try fields.strings("interests")
        sends = try fields.integer("sends") ?? 0
        attempts = try fields.integer("attempts") ?? 0
        httpStatus = try fields.integer("httpStatus")
        notificationID = try fields.string("notificationId")
        trackingID = try fields.string("trackingId")
        publishedAt = try fields.instant("publishedAt")
        if let latencyMs = try fields.object("latencyMs") {
            latency = Latency(
                queue: try latencyMs.duration("queue"), hub: try latencyMs.duration("hub"),
                total: try latencyMs.duration("total"))
        }
        if let failure = try fields.object("error") {
            error = Failure(
                code: try failure.required("code", failure.string("code")),
                detail: try failure.string("detail") ?? "")
        }
        afterRecall = try fields.flag("afterRecall") ?? false
        cut = try fields.strings("cut")
        leftOut = try fields.strings("leftOut")
        routing = try fields.objects("routing").map { reason throws(Undecodable) in
            Reason(
                category: try reason.required("category", reason.string("category")),
                because: try reason.string("because") ?? "")
        }
        isQuiet = try fields.string("quiet") != nil
        isTest = try fields.flag("test") ?? false
        users = try fields.strings("users")
        run = try fields.string("run")
        format = try fields.string("format")
        filled = try fields.strings("filled")
        language = try fields.string("language")
    }
}
