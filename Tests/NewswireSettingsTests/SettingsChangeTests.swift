import NewswireSettings
import Testing

struct SettingsChangeTests {
    private func effective(_ text: String) -> [EffectiveSetting] {
        LoadedSettings("hub: {connectionString: a, name: h}\n" + text, environment: ["KEY": "one"]).effective
    }

    private func change(_ old: String, _ new: String) -> (reloaded: [String], needRestart: [String]) {
        let change = SettingsChange(from: effective(old), to: effective(new))
        return (change.reloaded.map(\.description), change.needRestart.map(\.description))
    }

    @Test func `the same settings written differently are not a change`() {
        let (reloaded, needRestart) = change(
            "rate: {perSecond: 500}\nlanes: {a: {topics: [t, u]}}", "lanes: {a: {topics: \"t, u\"}}")
        #expect(reloaded.isEmpty && needRestart.isEmpty)
    }

    @Test func `a changed secret is named but never shown`() {
        let old = effective("kafka: {properties: {ssl.key.password: one}}")
        let change = SettingsChange(from: old, to: effective("kafka: {properties: {ssl.key.password: two}}"))
        #expect(change.needRestart.map(\.description) == ["kafka.properties.ssl.key.password"])
        #expect(!"\(old) \(change)".contains("one"))
    }

    @Test func `a login to Kafka changes without a restart, the way to log in does not`() {
        let (reloaded, needRestart) = change(
            "kafka: {properties: {sasl.username: a, sasl.password: b}, oauth: {clientSecret: c}}",
            "kafka: {properties: {sasl.username: d, sasl.password: e, sasl.mechanisms: PLAIN}, oauth: {clientSecret: f}}"
        )
        #expect(
            reloaded == [
                "kafka.properties.sasl.username", "kafka.properties.sasl.password", "kafka.oauth.clientSecret",
            ])
        #expect(needRestart == ["kafka.properties.sasl.mechanisms"])
    }

    @Test func `a new order of lanes needs a restart, new and removed categories do not`() {
        let swapped = change(
            "lanes: {a: {topics: [t]}, b: {topics: [u]}}", "lanes: {b: {topics: [u]}, a: {topics: [t]}}")
        #expect(swapped.needRestart == ["lanes"])
        let gone = change("categories: {World: {tag: a}}", "categories: {Sports: {tag: b}}")
        #expect(gone.reloaded == ["categories.Sports.tag", "categories.World.tag"] && gone.needRestart.isEmpty)
    }
}
