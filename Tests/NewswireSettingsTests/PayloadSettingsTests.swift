import KafkaModel
import NotificationHub
import Testing

@testable import NewswireSettings
@testable import PublishEngine

/// The settings for how much news may disturb, and how long it waits for a phone that is off.
struct PayloadSettingsTests {
    private func payload(_ yaml: String) throws -> PayloadSettings {
        try #require(LoadedSettings(minimal("payload: {\(yaml)}")).settings).payload
    }

    @Test func `one time to live stands for everything, and a map adds lanes and classes`() throws {
        let usual = try payload("mode: template").timeToLive
        #expect(usual.standard == .seconds(86_400) && usual.lanes.isEmpty && usual.classes.isEmpty)
        #expect(try payload("timeToLive: 6h").timeToLive.standard == .seconds(21_600))
        let map = try payload("timeToLive: {default: 2h, live: 30m, breaking: 10m}").timeToLive
        #expect(map.standard == .seconds(7_200) && map.lanes == [LaneID(0): .seconds(1_800)])
        #expect(map.classes == [.breaking: .seconds(600)])
    }

    @Test func `urgencies have the classes of the settings`() throws {
        #expect(
            try payload("interruption: {none: breaking, 2: routine}").interruption
                == Interruption([0: .breaking, 2: .routine]))
    }

    @Test(arguments: [
        (
            "timeToLive: {lvie: 1h}",
            "payload.timeToLive.lvie: is neither a lane nor a class of urgency; did you mean live?"
        ),
        (
            "timeToLive: 40d",
            "payload.timeToLive.default: '40d' is out of range; write a time from 1s to 28d, e.g. 30s or 15m"
        ),
        ("interruption: {10: quiet}", "payload.interruption.10: is no urgency; write a number from 1 to 9, or none"),
        (
            "interruption: {9: loud}",
            "payload.interruption.9: 'loud' is not understood; write one of breaking, routine, quiet"
        ),
        (
            "interruption: {9: quiet}",
            "payload.interruption: names quiet, and not every notification can be silent; "
                + "set payload.templates in template mode; in native mode leave out platforms that always ring"
        ),
    ])
    func `an impossible value is reported with a remedy`(yaml: String, problem: String) {
        let loaded = LoadedSettings(minimal("payload: {\(yaml)}"))
        #expect(loaded.settings == nil)
        #expect(lines(loaded).contains { $0.hasSuffix("error: \(problem)") }, "\(lines(loaded))")
    }
}
