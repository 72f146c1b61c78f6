import NotificationHub
import Testing

@testable import PublishEngine

/// Errors and warnings of `payload.native`, by member.
struct NativeProblemTests {
    @Test(arguments: [
        (#"{"aps":{"alert":"{{headlin}}"}}"#, "apple.body.aps.alert: 'headlin' is not a variable"),
        (#"{"a":["x","{{data.a.b}}"]}"#, "apple.body.a.2: 'data.a.b' is not a variable"),
        (#"{"a":"{{headline"}"#, "apple.body.a: a tag is opened and not closed"),
        (#"{"a":{"{{id}}":1}}"#, "apple.body.a.{{id}}: a variable cannot be the name of a member"),
        (#"{"a":1,"a":2}"#, "apple.body.a: is written twice"),
        (#"{"badge":{{urgency}}}"#, "apple.body: is not valid JSON"), ("[]", "apple.body: is no JSON object"),
    ])
    func `an unusable JSON body is an error`(body: String, problem: String) {
        let settings = NativeSamples.settings(.apple, body)
        #expect(NativeSamples.problems(settings) == [problem])
        #expect(throws: PayloadProblems.self) { try PayloadBuilder(settings) }
    }

    @Test(arguments: [
        ("<toast><{{id}}/></toast>", "windows.body: is not valid XML: it is not well-formed XML"),
        ("<toast", "windows.body: is not valid XML: it is not well-formed XML"),
        ("<toast launch='{{lnk}}'/>", "windows.body: 'lnk' is not a variable"),
        ("<!DOCTYPE x><toast/>", "windows.body: is not valid XML: it must not have a document type declaration"),
    ])
    func `an unusable toast is an error`(body: String, problem: String) {
        #expect(NativeSamples.problems(NativeSamples.settings(.windows, body)) == [problem])
    }

    @Test(
        arguments: [
            (Platform.apple, #"{"aps":{"alert":"{{data.kicker}}"}}"#, "body.aps.alert"),
            (.apple, #"{"aps":{"alert":{"title":"{{data.kicker}}","body":"{{ summary }}"}}}"#, "body.aps.alert"),
            (.apple, #"{"aps":{"alert":{"title":"{{data.kicker}}","body":"{{headline}}"}}}"#, nil),
            (.apple, #"{"aps":{"alert":"{{data.kicker}}: news"}}"#, nil),
            (.apple, #"{"aps":{"alert":{"loc-key":"NEWS"}}}"#, nil),
            (.fcmv1, #"{"message":{"notification":{"title":"{{summary}}"}}}"#, "body.message.notification"),
            (.fcmv1, #"{"message":{"data":{"kicker":"{{data.kicker}}"}}}"#, nil),
        ] as [(Platform, String, String?)])
    func `a notification whose texts may all be absent is a warning`(platform: Platform, body: String, path: String?) {
        let settings = NativeSamples.settings(platform, body)
        #expect(NativeSamples.problems(settings).isEmpty)
        let wanted = path.map {
            "\(platform.rawValue).\($0): shows no text for an event that has none of its variables"
        }
        #expect(NativeSamples.warnings(settings) == [wanted].compactMap(\.self))
    }

    @Test func `an error of a section is reported there`() {
        let settings = NativeSamples.settings(
            .apple, #"{"aps":{"alert":"{{id}}"}}"#, [.breaking: #"{"aps":{"sound":"{{x}}"}}"#])
        #expect(NativeSamples.problems(settings) == ["apple.breaking.aps.sound: 'x' is not a variable"])
    }

    @Test func `a message of FCM, a platform with a fixed payload and too many variables are errors`() {
        #expect(
            NativeSamples.problems(NativeSamples.settings(.fcmv1, #"{"data":{}}"#))
                == ["fcmv1.body: has no message, which FCM v1 requires"])
        #expect(
            NativeSamples.problems(NativeSamples.settings(.xiaomi, "{}")) == ["xiaomi: has the built-in payload only"])
        let many = (0..<65).map { #""m\#($0)":"{{data.v\#($0)}}""# }.joined(separator: ",")
        #expect(
            NativeSamples.problems(NativeSamples.settings(.adm, "{\(many)}")).contains(
                "adm.body: names more than 64 variables"))
        let deep = String(repeating: #"{"a":"#, count: 40) + "1" + String(repeating: "}", count: 40)
        #expect(
            NativeSamples.problems(NativeSamples.settings(.apple, deep)).first?.hasSuffix("is nested deeper than 32")
                == true)
    }

    @Test(arguments: [
        (
            Platform.apple, #"{"aps":{"alert":{"titel":"x","body":"{{id}}"}}}"#,
            "body.aps.alert.titel: is no member that iOS knows, did you mean title?"
        ),
        (.apple, #"{"aps":{"badge":"1"}}"#, "body.aps.badge: must be a whole number"),
        (
            .apple, #"{"aps":{"interruption-level":"urgent"}}"#,
            "body.aps.interruption-level: must be one of passive, active, time-sensitive, critical"
        ),
        (.apple, #"{"aps":{},"sound":"x"}"#, "body.sound: is read by iOS only inside aps"),
        (
            .fcmv1, #"{"message":{"android":{"priority":"urgent"}}}"#,
            "body.message.android.priority: must be one of NORMAL, HIGH"
        ),
        (.fcmv1, #"{"message":{"data":{"n":1}}}"#, "body.message.data.n: must be a string"),
        (.fcmv1, #"{"message":{"data":{"from":"x"}}}"#, "body.message.data.from: is a name that Google reserves"),
        (
            .fcmv1, #"{"message":{"android":{"chanel":"x"}}}"#,
            "body.message.android.chanel: is no member that FCM knows"
        ),
        (.browser, #"{"dir":"left"}"#, "body.dir: must be one of auto, ltr, rtl"),
        (.browser, #"{"notification":{"silent":"yes"}}"#, "body.notification.silent: must be true or false"),
        (.windows, #"<toast duration="forever"/>"#, "body: toast duration must be one of short, long"),
        (.windows, "<toast><text/></toast>", "body: toast text is no element that Windows knows here"),
        (.windows, "<tile/>", "body: tile must be <toast>, because other notifications need other headers"),
        (
            .fcmv1, #"{"message":{"android":{"ttl":"60s"}}}"#,
            "body.message.android.ttl: is overridden by Newswire's own value"
        ),
        (.browser, #"{"tag":"{{id}}"}"#, "body.tag: is overridden by Newswire's own value"),
    ])
    func `members that platforms ignore, refuse or get from Newswire are warnings`(
        platform: Platform, body: String, warning: String
    ) {
        let settings = NativeSamples.settings(platform, body)
        #expect(settings.problems.isEmpty)
        #expect(NativeSamples.warnings(settings) == ["\(platform.rawValue).\(warning)"])
    }

    @Test func `a section that would make a sound is a warning, the same member in the body is not`() {
        let sound = #"{"aps":{"sound":"x.caf"}}"#
        #expect(NativeSamples.warnings(NativeSamples.settings(.apple, sound)).isEmpty)
        #expect(
            NativeSamples.warnings(NativeSamples.settings(.apple, sound, [.quiet: sound]))
                == ["apple.quiet.aps.sound: is overridden by Newswire's own value"])
    }

    @Test func `a body that nothing sends is a warning`() {
        var settings = NativeSamples.settings(.apple, "{}")
        settings.mode = .template
        #expect(NativeSamples.warnings(settings) == ["apple: is not sent"])
    }

    @Test func `no body traps, whatever it is made of`() {
        let pieces = [
            "{", "}", "[", "]", "\"", ":", ",", "{{id}}", "{{", "}}", "{{#id}}", "{{/id}}", "<toast>", "</toast>",
            "<a b='", "'/>", "1", "null", "\"aps\":",
        ]
        var state: UInt64 = 7
        for _ in 0..<3_000 {
            var text = ""
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                text += pieces[Int(state >> 33) % pieces.count]
            }
            for platform in [Platform.apple, .windows] {
                let settings = NativeSamples.settings(platform, text)
                if settings.problems.isEmpty { _ = try? NativeSamples.payload(PayloadSamples.event(), settings) }
                _ = settings.warnings
            }
        }
    }
}
