import NotificationHub
import Testing

@testable import NewswireSettings
@testable import PublishEngine

/// Bodies that the operator writes, from YAML.
struct NativeSettingsTests {
    /// The example of the guide.
    private static let example = """
        payload:
          mode: native
          platforms: [apple, fcmv1, windows, browser]
          native:
            apple:
              body:
                aps:
                  alert: {title: "{{category}}", subtitle: "{{data.kicker}}", body: "{{headline}}"}
                  sound: default
                  badge: 1
                  category: NEWS
                  relevance-score: 0.8
                url: "{{link}}"
              breaking: {aps: {sound: alarm.caf, interruption-level: time-sensitive}}
            fcmv1:
              body:
                message:
                  notification: {title: "{{category}}", body: "{{headline}}", image: "{{image}}"}
                  android: {ttl: "{{ttl}}s", notification: {channel_id: "news-{{categorySlug}}", click_action: OPEN, tag: "{{collapseId}}"}}
                  data: {url: "{{link}}", story: "{{story}}"}
            windows:
              body: '<toast launch="{{link}}"><visual><binding template="ToastGeneric"><text>{{headline}}</text></binding></visual></toast>'

        """

    @Test func `the documented bodies are read without a problem`() throws {
        let loaded = LoadedSettings(minimal(Self.example))
        #expect(lines(loaded) == [])
        let native = try #require(loaded.settings).payload.native
        #expect(native.count == 3)
        #expect(
            native[.apple]?.body.bytes
                == Array(
                    #"{"aps":{"alert":{"title":"{{category}}","subtitle":"{{data.kicker}}","body":"{{headline}}"},"sound":"default","badge":1,"category":"NEWS","relevance-score":0.8},"url":"{{link}}"}"#
                        .utf8))
        #expect(native[.apple]?.classes.keys.map(\.rawValue) == ["breaking"])
        #expect(native[.windows]?.body.string?.hasPrefix("<toast") == true)
        _ = try #require(loaded.settings).contentRules()
    }

    private func native(_ yaml: String) -> LoadedSettings {
        LoadedSettings(minimal("payload:\n  mode: native\n  platforms: [apple, fcmv1, windows]\n  native:\n" + yaml))
    }

    @Test func `values without quotes are numbers, flags and null, and quoted ones are texts`() throws {
        let loaded = native(
            "    apple: {body: {aps: {badge: 1}, a: true, b: ~, c: \"1\", d: 'true', e: 007, f: yes, g: [1.5, x]}}")
        #expect(
            loaded.settings?.payload.native[.apple]?.body.bytes
                == Array(
                    #"{"aps":{"badge":1},"a":true,"b":null,"c":"1","d":"true","e":"007","f":"yes","g":[1.5,"x"]}"#.utf8)
        )
    }

    @Test(arguments: [
        (
            "    apple:\n      body:\n        aps:\n          alert: \"{{headlin}}\"",
            "x.yaml:11:11: error: payload.native.apple.body.aps.alert: 'headlin' is not a variable"
        ),
        (
            "    apple:\n      body:\n        \"{{id}}\": 1",
            "x.yaml:10:9: error: payload.native.apple.body.{{id}}: a variable cannot be the name of a member"
        ),
        ("    apple:\n      body: '{\"aps\"'", "x.yaml:9:13: error: payload.native.apple.body: is not valid JSON"),
        ("    windows:\n      body: <toast>", "x.yaml:9:13: error: payload.native.windows.body: is not valid XML"),
        ("    windows:\n      body: {toast: 1}", "x.yaml:9:13: error: payload.native.windows.body: is no text"),
        ("    aple: {body: {}}", "x.yaml:8:5: error: payload.native.aple: is no platform; did you mean apple?"),
        ("    gcm: {body: {}}", "x.yaml:8:5: error: payload.native.gcm: has the built-in payload only"),
        ("    apple: {breaking: {}}", "x.yaml:8:5: error: payload.native.apple.body: is missing"),
        (
            "    apple: {body: {a: \"${NOT_SET}\"}}",
            "x.yaml:8:23: error: payload.native.apple.body: the environment variable NOT_SET"
        ),
        (
            "    fcmv1:\n      body:\n        message:\n          android: {priority: urgent}",
            "x.yaml:11:21: warning: payload.native.fcmv1.body.message.android.priority: must be one of NORMAL, HIGH"
        ),
        (
            "    apple: {body: " + String(repeating: "[", count: 400) + String(repeating: "]", count: 400) + "}",
            "x.yaml:8:84: error: payload.native.apple.body: is nested deeper than 64"
        ),
        ("    browser: {body: {}}", "x.yaml:8:5: warning: payload.native.browser: is not sent"),
    ])
    func `a problem has the line of its member`(yaml: String, problem: String) {
        let loaded = native(yaml)
        #expect(lines(loaded).contains { $0.hasPrefix(problem) }, "\(lines(loaded))")
        #expect((loaded.settings == nil) == problem.contains("error"))
    }

    @Test func `the environment overrides a body with JSON, and printing shows it on one line`() throws {
        let loaded = LoadedSettings(
            minimal(
                "payload: {mode: native, platforms: [apple], native: {apple: {body: {a: 1}}}, properties: {x: \"{{id}}\"}}"
            ),
            environment: ["NEWSWIRE_PAYLOAD_NATIVE_APPLE_BODY": #"{"aps":{"badge":2}}"#])
        #expect(lines(loaded) == [])
        let payload = try #require(loaded.settings).payload
        #expect(payload.native[.apple]?.body == .string(#"{"aps":{"badge":2}}"#))
        #expect(payload.properties == [.init(name: "x", template: "{{id}}")])
        let yaml = EffectiveSetting.yaml(loaded.effective)
        #expect(yaml.contains(##"body: "{\"aps\":{\"badge\":2}}"  # NEWSWIRE_PAYLOAD_NATIVE_APPLE_BODY"##), "\(yaml)")
    }

    @Test func `a single value for all properties is an error`() {
        let loaded = LoadedSettings(minimal("payload: {properties: x}"))
        #expect(lines(loaded).contains { $0.contains("payload.properties: expected keys, found a single value") })
    }

    @Test func `bodies and properties change at a reload`() {
        func effective(_ more: String) -> [EffectiveSetting] {
            LoadedSettings(
                minimal("payload: {mode: native, platforms: [apple], native: {apple: {body: {a: \(more)}}}}")
            ).effective
        }
        let change = SettingsChange(from: effective("1"), to: effective("2"))
        #expect(change.reloaded == ["payload.native.apple.body"] && change.needRestart == [])
        #expect(SettingsPath("payload.properties.title").isReloadable)
    }
}
