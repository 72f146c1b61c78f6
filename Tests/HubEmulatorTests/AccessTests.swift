import HubEmulator
import NotificationHub
import Testing

struct AccessTests {
    @Test(arguments: [
        (HubSettings.fullRuleName, 201), ("SendOnly", 201), (HubSettings.listenRuleName, 403), ("ManageOnly", 403),
    ])
    func `sending needs the Send right`(rule: String, status: Int) throws {
        var test = try TestHub()
        let reply = test.call(
            "POST", "/messages?api-version=2020-06", rule: rule,
            headers: ["Content-Type": "application/json", "ServiceBusNotification-Format": "template"], body: "{}")
        #expect(reply.status == status)
        if status == 403 {
            #expect(reply.body.isEmpty)
            #expect(reply.headers["Retry-After"] == nil)
            #expect(reply.headers["TrackingId"] != nil)
        }
    }

    @Test(arguments: [
        ("", "MissingToken"), ("Bearer abc", "MalformedToken"),
        ("SharedAccessSignature sr=x&sig=y&se=1", "MalformedToken"),
        (TestHub.token(rule: "Nobody"), "InvalidSignature"),
        (TestHub.token(key: AccessKey("wrong")), "InvalidSignature"),
        (TestHub.token(resource: "http://other.example/"), "InvalidAudience"),
        (TestHub.token(resource: "http://news.example/BreakingNews1"), "InvalidAudience"),
        (TestHub.token(resource: "http://news.example/Breaking"), "InvalidAudience"),
        (
            SharedAccessSignature.token(
                resource: "http://news.example/", keyName: HubSettings.fullRuleName, key: TestHub.key,
                expiresAt: TestHub.start.seconds), "ExpiredToken"
        ),
    ])
    func `tokens are refused with the service's messages`(token: String, word: String) throws {
        var test = try TestHub()
        let reply = test.call("POST", "/messages", headers: ["Authorization": token], body: "{}")
        #expect(reply.status == 401)
        #expect(reply.message?.hasPrefix(word) == true, "\(reply.text)")
    }

    @Test
    func `an error has the recorded form`() throws {
        var test = try TestHub()
        let reply = test.call("POST", "/messages", headers: ["Authorization": TestHub.token(key: AccessKey("no"))])
        let tracking = try #require(reply.headers["TrackingId"])
        #expect(
            reply.text
                == "<Error xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"><Code>401</Code><Detail>"
                + "InvalidSignature: The token has an invalid signature. TrackingId:\(tracking),"
                + "TimeStamp:1/15/2027 8:00:00 AM +00:00</Detail></Error>")
    }

    @Test
    func `the secondary key is accepted, and a remembered token still expires on time`() throws {
        var test = try TestHub()
        let token = TestHub.token(key: AccessKey("second"))
        let headers: HubHeaders = ["Authorization": token, "Content-Type": "application/json"]
        #expect(test.call("POST", "/messages", headers: headers, body: "{}").status == 201)
        #expect(test.call("POST", "/messages", headers: headers, body: "{}").status == 201)
        test.now = test.now.advanced(byMilliseconds: 86_400_000)
        let late = test.call("POST", "/messages", headers: headers, body: "{}")
        #expect(late.message?.hasPrefix("ExpiredToken") == true)
    }

    @Test(arguments: [("POST", "/nothing", 404), ("PUT", "/messages", 405), ("GET", "/messages/%zz", 400)])
    func `unknown paths and methods are refused`(method: String, path: String, status: Int) throws {
        var test = try TestHub()
        #expect(test.call(method, path).status == status)
    }
}
