import KafkaModel
import NewsModel
import NotificationHub

@testable import PublishEngine

/// Payloads with bodies of the operator.
enum NativeSamples {
    /// - Parameters:
    ///   - body: JSON, or XML for Windows.
    ///   - classes: JSON of the sections.
    static func settings(
        _ platform: Platform, _ body: String, _ classes: [UrgencyClass: String] = [:]
    ) -> PayloadSettings {
        var settings = PayloadSettings(mode: .native([platform]))
        settings.timeToLive.standard = .seconds(3_600)
        settings.native[platform] = NativeBody(
            body: .string(body), classes: classes.mapValues { .string($0) })
        return settings
    }

    static func payload(
        _ event: NewsEvent, _ settings: PayloadSettings, on platform: Platform? = nil, isQuiet: Bool = false,
        inBackground: Bool = false
    ) throws -> Payload {
        try PayloadBuilder(settings).payload(
            event, routing: PayloadSamples.world, platform: platform ?? settings.platforms[0], lane: LaneID(0),
            since: PayloadSamples.since, isQuiet: isQuiet, inBackground: inBackground)
    }

    static func body(
        _ event: NewsEvent, _ platform: Platform, _ body: String, _ classes: [UrgencyClass: String] = [:],
        isQuiet: Bool = false, inBackground: Bool = false
    ) throws -> String {
        let payload = try payload(
            event, settings(platform, body, classes), isQuiet: isQuiet, inBackground: inBackground)
        return String(decoding: payload.request.body, as: UTF8.self)
    }

    static func problems(_ settings: PayloadSettings) -> [String] { settings.problems.map(line) }
    static func warnings(_ settings: PayloadSettings) -> [String] { settings.warnings.map(line) }

    private static func line(_ problem: PayloadProblem) -> String {
        "\(problem.path.dropFirst(2).joined(separator: ".")): \(problem.message)"
    }
}
