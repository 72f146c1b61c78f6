import HubTelemetry
import KafkaModel
import NewswireSettings
import Testing

struct TelemetrySettingsTests {
    private func load(_ more: String) -> LoadedSettings {
        LoadedSettings(
            """
            kafka: {bootstrapServers: [a:1]}
            lanes: {live: {topics: [t]}, backfill: {topics: [u]}}
            hub: {connectionString: "Endpoint=http://h/;SharedAccessKeyName=n;SharedAccessKey=a2V5", name: hub}

            """ + more)
    }

    @Test func `the telemetry section is read as written, and its topic belongs to the configuration`() throws {
        let loaded = load("telemetry: {topic: reach, sample: {live: 0.5, backfill: 0.001}, perSecond: 5, listen: off}")
        #expect(lines(loaded) == [])
        let settings = try #require(loaded.settings)
        #expect(settings.telemetry.sample == ["live": 500_000, "backfill": 1_000])
        #expect(settings.telemetry.perSecond == 5 && settings.telemetry.listen == nil)
        #expect(settings.topicRules.telemetryTopic == "reach")
    }

    @Test func `without a telemetry section nothing is asked, and there is no topic to create`() throws {
        let settings = try #require(load("").settings)
        #expect(!settings.telemetry.isConfigured && settings.topicRules.telemetryTopic == nil)
        let some = try #require(load("telemetry: {perSecond: 3}").settings)
        #expect(some.telemetry.isConfigured && some.topicRules.telemetryTopic == "news.telemetry")
        #expect(some.telemetry.sample == ["live": 1_000_000, "backfill": 10_000])
        #expect(some.telemetry.listen?.port == 9467)
        for section in ["sample: {live: 0.5}", "listen: off"] {
            #expect(try #require(load("telemetry: {\(section)}").settings).telemetry.isConfigured)
        }
    }

    @Test(arguments: [
        ("telemetry: {sample: {live: 2}}", "telemetry.sample.live"),
        ("telemetry: {sample: {live: 10%}}", "telemetry.sample.live"),
        ("telemetry: {sample: {live: -1}}", "telemetry.sample.live"),
        ("telemetry: {sample: {live: .5}}", "telemetry.sample.live"),
        ("telemetry: {sample: {night: 1}}", "telemetry.sample.night"),
        ("telemetry: {perSecond: 0}", "telemetry.perSecond"),
        ("telemetry: {every: 1s}", "telemetry.every"),
    ])
    func `an invalid telemetry setting is refused`(text: String, key: String) {
        let loaded = load(text)
        #expect(loaded.errors.map(\.key) == [key])
    }
}
