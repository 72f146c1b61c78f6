import ArgumentParser
import HubEmulator
import NewswireSettings

/// The options of `newswire hub` for behaviour in which real hubs differ from each other.
struct HubBehaviour: ParsableArguments {
    private static let sendsMax = 1_000_000
    private static let lagMax = Duration.seconds(600)
    private static let telemetryMax = Duration.seconds(3600)
    private static let skewMax = Duration.seconds(3600)

    @Option(
        help: ArgumentHelp(
            "The pricing tier: free, basic or standard. Only standard has telemetry, scheduled sends and jobs; free "
                + "has no batches and at most 500 devices.", valueName: "tier"),
        completion: .list(Tier.allCases.map(\.rawValue)))
    var tier = Tier.standard.rawValue
    @Option(
        help: ArgumentHelp(
            "Sends accepted a minute, 1 to \(sendsMax); more are answered with 429. Users report 100, 900 and 11500 for "
                + "the three tiers. (default: no limit)", valueName: "n"))
    var sendsPerMinute: Int?
    @Option(
        help: ArgumentHelp(
            "The time until a change of an installation takes effect, 0s to 10m; the service needs seconds.",
            valueName: "duration"))
    var installationLag = "0s"
    @Option(
        help: ArgumentHelp("How long a token is accepted after its expiry, 0s to 1h.", valueName: "duration"))
    var clockSkew = "0s"
    @Option(
        help: ArgumentHelp(
            "The form of answers: 2023 as the service is today, 2018 as older clients knew it.", valueName: "year"),
        completion: .list(APIEra.allCases.map(\.rawValue)))
    var apiEra = APIEra.year2023.rawValue

    @Flag(
        help: ArgumentHelp(
            "Refuse user ids and the tags username:…, user_… and staff from clients with the Listen right alone, as your "
                + "back end should; the service lets them pass."))
    var protectTags = false
    @Option(
        help: ArgumentHelp(
            "How long telemetry of a send is unknown (404), 0s to 1h; the service needs seconds.", valueName: "duration"
        ))
    var telemetryLag = "0s"
    @Option(
        help: ArgumentHelp(
            "How long the counts of telemetry grow after that, 0s to 1h.", valueName: "duration"))
    var telemetryTime = "0s"
    @Option(
        help: ArgumentHelp(
            "The share of sends whose telemetry stays unknown for ever, e.g. 1%.", valueName: "percent"))
    var telemetryMissing = "0%"

    func validate() throws { _ = try configuration() }

    func configuration() throws -> @Sendable (inout HubSettings) -> Void {
        guard let tier = Tier(rawValue: tier) else {
            throw ValidationError(tier, isNot: "a tier", known: Tier.allCases.map(\.rawValue))
        }
        guard let era = APIEra(rawValue: apiEra) else {
            throw ValidationError(apiEra, isNot: "a form of answers", known: APIEra.allCases.map(\.rawValue))
        }
        if let sendsPerMinute, !(1...Self.sendsMax).contains(sendsPerMinute) {
            throw ValidationError("--sends-per-minute must be 1 to \(Self.sendsMax); leave it out for no limit.")
        }
        let lag = try Self.duration(installationLag, max: Self.lagMax, "--installation-lag must be 0s to 10m, e.g. 2s.")
        let skew = try Self.duration(clockSkew, max: Self.skewMax, "--clock-skew must be 0s to 1h, e.g. 30s.")
        let telemetryLag = try Self.duration(
            telemetryLag, max: Self.telemetryMax, "--telemetry-lag must be 0s to 1h, e.g. 10s.")
        let telemetryTime = try Self.duration(
            telemetryTime, max: Self.telemetryMax, "--telemetry-time must be 0s to 1h, e.g. 30s.")
        guard let missing = SettingsValue.percent(telemetryMissing), (0...100).contains(missing) else {
            throw ValidationError("--telemetry-missing must be 0% to 100%.")
        }
        return { [sendsPerMinute, protectTags] settings in
            settings.protectsTags = protectTags
            settings.telemetry.hiddenMilliseconds = telemetryLag.components.seconds * 1000
            settings.telemetry.processingMilliseconds = telemetryTime.components.seconds * 1000
            settings.telemetry.missingMillionths = UInt64(missing) * 10_000
            (settings.tier, settings.era, settings.sendsPerMinute) = (tier, era, sendsPerMinute)
            settings.installationLagMilliseconds =
                lag.components.seconds * 1000 + lag.components.attoseconds / 1_000_000_000_000_000
            settings.clockSkewSeconds = skew.components.seconds + (skew.components.attoseconds > 0 ? 1 : 0)
        }
    }

    private static func duration(_ text: String, max: Duration, _ remedy: String) throws -> Duration {
        guard let duration = SettingsValue.duration(text), (.zero...max).contains(duration) else {
            throw ValidationError(remedy)
        }
        return duration
    }
}
