import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// Handles and bodies that a platform refuses, and channels that it has reported as dead.
struct PlatformRulesTests {
    private static func installation(_ token: String) -> String {
        #"{"platform":"apns","pushChannel":"\#(token)","tags":["World"],"templates":{"t":{"body":"{\"aps\":{}}"}}}"#
    }

    // MARK: Handles

    @Test(arguments: ["zz", "ABC", "A", "AB CD", "0xAB", "AB-CD", "ＡＢ"])
    func `a handle that is not an APNs token is refused`(token: String) throws {
        var test = try TestHub()
        #expect(test.call("PUT", "/installations/i", body: Self.installation(token)).status == 400)
        #expect(
            test.call("POST", "/registrations", body: WireTable.entry("Apple", "<DeviceToken>\(token)</DeviceToken>"))
                .status == 400)
        let direct: HubHeaders = ["ServiceBusNotification-DeviceHandle": token]
        #expect(
            test.send(#"{"aps":{}}"#, format: "apple", tags: nil, headers: direct, query: "?direct").status == 400)
        #expect(test.hub.registrationCount == 0 && test.hub.received.total == 0)
        #expect(test.call("PUT", "/installations/i", body: Self.installation("abCD")).status == 200)
        let patch = #"[{"op":"replace","path":"/pushChannel","value":"\#(token)"}]"#
        #expect(test.call("PATCH", "/installations/i", body: patch).status == 400)
        #expect(test.call("GET", "/installations/i").text.contains(#""pushChannel":"ABCD""#))
    }

    @Test func `handles of other platforms are not checked`() throws {
        var test = try TestHub()
        let direct: HubHeaders = ["ServiceBusNotification-DeviceHandle": "zz"]
        #expect(test.send(#"{"data":{}}"#, format: "gcm", tags: nil, headers: direct, query: "?direct").status == 201)
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [.success])
    }

    @Test func `each handle of a batch has its own outcome`() throws {
        var test = try TestHub()
        let part = "Content-Type: application/json\r\nContent-Disposition: inline; name="
        let body =
            "--b\r\n\(part)notification\r\n\r\n{\"aps\":{}}\r\n--b\r\n\(part)devices\r\n\r\n[\"AB\",\"zz\"]\r\n--b--\r\n"
        let reply = test.call(
            "POST", "/messages/$batch?direct&api-version=2020-06",
            headers: ["ServiceBusNotification-Format": "apple", "Content-Type": "multipart/mixed; boundary=b"],
            body: body)
        #expect(reply.status == 201)
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [.success, .badChannel])
    }

    // MARK: Bodies

    private static let bodies: [(body: String, type: String?, outcome: PushOutcome)] = [
        (#"{"aps":{"alert":"Hi"}}"#, nil, .success), (#"{"aps":{}}"#, "background", .success),
        ("{}", nil, .invalidNotificationFormat), (#"{"alert":"Hi"}"#, "alert", .invalidNotificationFormat),
        (#"{"aps":"Hi"}"#, nil, .invalidNotificationFormat), (#"{"APS":{}}"#, nil, .invalidNotificationFormat),
        (#"{"a":{"aps":{}}}"#, "liveactivity", .invalidNotificationFormat),
        (#"{"mdm":"x"}"#, "mdm", .success), (#"{"caller":"x"}"#, "voip", .success),
    ]

    @Test(arguments: bodies)
    func `APNs accepts a body without aps only for push types that need none`(
        body: String, type: String?, outcome: PushOutcome
    ) throws {
        var test = try TestHub()
        let template = body.replacing("\"", with: "\\\"")
        let headers = type.map { #","headers":{"apns-push-type":"\#($0)"}"# } ?? ""
        let installation =
            #"{"platform":"apns","pushChannel":"AB","templates":{"t":{"body":"\#(template)"\#(headers)}}}"#
        #expect(test.call("PUT", "/installations/i", body: installation).status == 200)
        let pushType: HubHeaders = type.map { ["apns-push-type": $0] } ?? [:]
        var direct = pushType
        direct.append("ServiceBusNotification-DeviceHandle", "CD")
        let sends = [
            test.send(body, format: "apple", tags: nil, headers: pushType),
            test.send(body, format: "apple", tags: nil, headers: direct, query: "?direct"),
            test.send("{}", tags: nil),
        ]
        #expect(sends.map(\.status) == [201, 201, 201])
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [outcome, outcome, outcome])
    }

    // MARK: Dead channels

    private func state(_ test: inout TestHub) -> JSONTree? {
        JSONTree(parsing: test.call("GET", "/installations/i").body)?["pushChannelExpired"]
    }

    private func push(_ test: inout TestHub) -> [PushOutcome] {
        _ = test.send(#"{"aps":{}}"#, format: "apple", tags: nil)
        return test.hub.deliver(limit: 10, at: test.now).map(\.outcome)
    }

    @Test(arguments: [PushOutcome.expiredChannel, .badChannel])
    func `an installation reports an expired channel until the client names one again`(outcome: PushOutcome) throws {
        for (method, body) in [
            ("PUT", Self.installation("AB12")), ("PUT", Self.installation("CD34")),
            ("PATCH", #"[{"op":"replace","path":"/pushChannel","value":"CD34"}]"#),
        ] {
            var test = try TestHub()
            _ = test.call("PUT", "/installations/i", body: Self.installation("AB12"))
            #expect(state(&test) == .bool(false))
            test.hub.setOutcome(outcome, handle: "AB12")
            #expect(push(&test) == [outcome])
            #expect(state(&test) == .bool(true))
            #expect(test.hub.registrationCount == 0)
            // Other changes do not revive a dead channel.
            let tag = #"[{"op":"add","path":"/tags","value":"Sports"}]"#
            #expect(test.call("PATCH", "/installations/i", body: tag).status == 200)
            #expect(state(&test) == .bool(true))
            #expect(push(&test).isEmpty)

            test.hub.setOutcome(nil, handle: "AB12")
            #expect(test.call(method, "/installations/i", body: body).status == 200)
            #expect(state(&test) == .bool(false))
            #expect(push(&test) == [.success])
        }
    }

    @Test func `a client cannot say that its channel has expired`() throws {
        var test = try TestHub()
        let body = #"{"platform":"apns","pushChannel":"AB12","pushChannelExpired":true}"#
        #expect(test.call("PUT", "/installations/i", body: body).status == 200)
        #expect(state(&test) == .bool(false))
        #expect(push(&test) == [.success])
    }

    @Test func `an expired channel is still expired after a restart`() throws {
        var before = try TestHub { $0.recordsChanges = true }
        _ = before.call("PUT", "/installations/i", body: Self.installation("AB12"))
        before.hub.setOutcome(.expiredChannel, handle: "AB12")
        _ = push(&before)
        var after = try TestHub()
        // A store keeps only the last state.
        var stored: [UInt8]?
        for case .installation("i", let json) in before.hub.takeChanges() { stored = json }
        let json = try #require(stored)
        let isRestored = after.hub.restoreInstallation(id: "i", json: json)
        #expect(isRestored)
        #expect(state(&after) == .bool(true))
        #expect(push(&after).isEmpty)
    }

    @Test func `a dead channel that was already replaced does not count as expired`() throws {
        var test = try TestHub { $0.installationLagMilliseconds = 1000 }
        _ = test.call("PUT", "/installations/i", body: Self.installation("AB12"))
        test.now = test.now.advanced(byMilliseconds: 2000)
        test.hub.setOutcome(.expiredChannel, handle: "AB12")
        _ = test.hub.deliver(limit: 1, at: test.now)
        _ = test.call("PUT", "/installations/i", body: Self.installation("CD34"))
        #expect(push(&test) == [.expiredChannel])
        #expect(state(&test) == .bool(false))
        test.now = test.now.advanced(byMilliseconds: 2000)
        #expect(push(&test) == [.success])
    }
}
