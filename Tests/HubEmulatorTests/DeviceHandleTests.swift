import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// APNs tokens are equal in upper and lower case. The handles of other platforms are not.
struct DeviceHandleTests {
    private func registered(_ kind: String = "Apple", _ inner: String = "<DeviceToken>ab12</DeviceToken>") throws
        -> TestHub
    {
        var test = try TestHub()
        _ = test.call(
            "PUT", "/registrations/1-2-3", body: WireTable.entry(kind, "<Tags>World</Tags>" + inner))
        return test
    }

    @Test
    func `an APNs token is answered in upper case`() throws {
        var test = try registered()
        #expect(test.call("GET", "/registrations/1-2-3").text.contains("<DeviceToken>AB12</DeviceToken>"))
        let installation = #"{"platform":"apns","pushChannel":"ab12"}"#
        #expect(test.call("PUT", "/installations/i", body: installation).status == 200)
        #expect(JSONTree(parsing: test.call("GET", "/installations/i").body)?["pushChannel"]?.string == "AB12")
        let patch = #"[{"op":"replace","path":"/pushChannel","value":"cd34"}]"#
        #expect(test.call("PATCH", "/installations/i", body: patch).status == 200)
        #expect(JSONTree(parsing: test.call("GET", "/installations/i").body)?["pushChannel"]?.string == "CD34")
    }

    @Test(arguments: ["ab12", "AB12", "Ab12"])
    func `a device is found by its APNs token in any case`(token: String) throws {
        var test = try registered()
        let found = test.call("GET", "/registrations?$filter=ChannelUri+eq+'\(token)'").text
        #expect(found.contains("1-2-3"))
        #expect(test.hub.registrationIDs(handle: token) == ["1-2-3"])
        let direct: HubHeaders = ["ServiceBusNotification-DeviceHandle": token]
        _ = test.send(#"{"aps":{}}"#, format: "apple", tags: nil, headers: direct, query: "?direct")
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.handle) == ["AB12", "AB12"])
        #expect(test.hub.deliveries(to: token).count == 2)
    }

    @Test
    func `the tokens of a batch are matched without case`() throws {
        var test = try registered()
        let body =
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--b\r\n"
            + "Content-Disposition: inline; name=devices\r\n\r\n[\"ab12\"]\r\n--b--"
        let headers: HubHeaders = [
            "ServiceBusNotification-Format": "apple", "Content-Type": "multipart/mixed; boundary=b",
        ]
        #expect(test.call("POST", "/messages/$batch?direct", headers: headers, body: body).status == 201)
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.handle) == ["AB12"])
    }

    @Test(arguments: ["ab12", "AB12"])
    func `a device is reported as dead by its APNs token in any case`(token: String) throws {
        var test = try registered()
        test.hub.setOutcome(.expiredChannel, handle: token)
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [.expiredChannel])
        #expect(test.hub.registrationCount == 0)
        test.hub.setOutcome(nil, handle: token)
        let direct: HubHeaders = ["ServiceBusNotification-DeviceHandle": "AB12"]
        _ = test.send(#"{"aps":{}}"#, format: "apple", tags: nil, headers: direct, query: "?direct")
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.outcome) == [.success])
    }

    @Test
    func `one APNs token in two cases is one device`() throws {
        var test = try registered()
        _ = test.call(
            "PUT", "/registrations/1-2-4",
            body: WireTable.entry("Apple", "<Tags>World</Tags><DeviceToken>AB12</DeviceToken>"))
        _ = test.send(#"{"aps":{}}"#, format: "apple")
        #expect(test.hub.deliver(limit: 10, at: test.now).count == 1)
    }

    @Test
    func `the handles of other platforms keep their case`() throws {
        var test = try registered("FcmV1", "<FcmV1RegistrationId>ab12</FcmV1RegistrationId>")
        #expect(test.call("GET", "/registrations/1-2-3").text.contains(">ab12</FcmV1RegistrationId>"))
        #expect(test.hub.registrationIDs(handle: "ab12") == ["1-2-3"])
        #expect(test.hub.registrationIDs(handle: "AB12").isEmpty)
        _ = test.send(#"{"message":{}}"#, format: "fcmv1")
        #expect(test.hub.deliver(limit: 10, at: test.now).map(\.handle) == ["ab12"])
        #expect(test.hub.deliveries(to: "AB12").isEmpty)
    }
}
