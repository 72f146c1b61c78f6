public import NewsModel
import NotificationHub

// The telemetry record as JSON: `schemas/news-telemetry.schema.json`.

extension TelemetryRecord {
    public var json: [UInt8] {
        JSONWriter.object(reserving: 512) { json in
            json.field("eventId", eventID)
            json.field("platform", platform.rawValue)
            json.field("notificationId", notificationID)
            json.field("lane", lane)
            json.field("attempt", attempt)
            json.field("state", state.rawValue)
            json.field("final", isFinal)
            json.field("polledAt", polledAt)
            json.field("ageMs", max(age, .zero).nanoseconds / 1_000_000)
            json.field("acceptedAt", acceptedAt)
            json.field("enqueuedAt", enqueuedAt)
            json.field("startedAt", startedAt)
            json.field("endedAt", endedAt)
            if !counts.isEmpty {
                json.object("counts") { json in
                    for platform in counts {
                        json.name(escaping: platform.platform)
                        json.object { json in
                            for outcome in platform.outcomes { json.field(named: outcome.name, outcome.count) }
                        }
                    }
                }
                json.field("targets", targets)
            }
            if let error {
                json.object("error") { json in
                    json.field("code", error.code)
                    json.field("detail", error.detail)
                }
            }
        }
    }

    /// The largest count. It is low enough that the sum of a record's counts cannot overflow.
    private static let countMax: Int64 = 1_000_000_000_000

    /// Reads the form that `json` writes. Unknown members are ignored, and `targets` is computed from the counts.
    ///
    /// - Throws: an error that names the field.
    public init(decoding bytes: [UInt8]) throws(Undecodable) {
        let parser = JSONParser()
        let fields = try JSONFields(bytes, parser)
        // The fields are views into the parser's memory.
        defer { withExtendedLifetime(parser) {} }
        let age: Int64 = try fields.required("ageMs", fields.integer("ageMs"))
        self.init(
            eventID: try fields.required("eventId", fields.string("eventId")),
            platform: try fields.required("platform", fields.word("platform")),
            notificationID: try fields.required("notificationId", fields.string("notificationId")),
            lane: try fields.required("lane", fields.string("lane")),
            attempt: try fields.required("attempt", fields.integer("attempt")),
            state: try fields.required("state", fields.word("state")),
            isFinal: try fields.required("final", fields.flag("final")),
            polledAt: try fields.required("polledAt", fields.instant("polledAt")),
            age: .milliseconds(age), acceptedAt: try fields.required("acceptedAt", fields.instant("acceptedAt")))
        enqueuedAt = try fields.instant("enqueuedAt")
        startedAt = try fields.instant("startedAt")
        endedAt = try fields.instant("endedAt")
        for (platform, outcomes) in try fields.object("counts")?.objects() ?? [] {
            counts.append(
                .init(
                    platform: platform,
                    outcomes: try outcomes.integers(upTo: Self.countMax).map { .init(name: $0.name, count: $0.value) }))
        }
        if let failure = try fields.object("error") {
            error = ResultRecord.Failure(
                code: try failure.required("code", failure.string("code")),
                detail: try failure.string("detail") ?? "")
        }
    }
}
