import HubEmulator
import NotificationHub
import Testing

struct SendingTests {
    private static let toast =
        "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">Hi</text></binding></visual></toast>"

    @Test
    func `an accepted send is answered as in recordings of the service`() throws {
        var test = try TestHub()
        let reply = test.send(#"{"messageParam":"Breaking World News!"}"#)
        #expect(reply.status == 201)
        #expect(reply.body.isEmpty)
        #expect(reply.headers["Content-Type"] == nil)
        #expect(reply.headers["X-Powered-By"] == "Azure Notification Hubs")
        #expect(reply.headers["TrackingId"]?.utf8.count == 36)
        #expect(reply.headers["x-ms-correlation-request-id"] == reply.headers["TrackingId"])
        let location = try #require(reply.headers["Location"])
        #expect(location.hasPrefix("http://news.example/BreakingNews/messages/"))
        #expect(location.hasSuffix("?api-version=2020-06"))
        let message = try #require(test.hub.received[1])
        #expect(NotificationID.inLocation(location) == message.id)
        #expect(message.id.hasPrefix("NH-20270115080000000-"))
        #expect(message.id.split(separator: "-").map(\.count) == [2, 17, 32, 2])
        #expect(message.tags == "World" && message.format == .template && message.kind == .send)
    }

    private static let sound: [(String, String, String, HubHeaders)] = [
        ("template", "application/json", #"{"messageParam":"x","n":3,"b":true}"#, [:]),
        ("template", "application/json;charset=utf-8", "{}", [:]),
        ("apple", #"application/json;charset="utf-8""#, #"{"aps":{"alert":"Hi"}}"#, [:]),
        ("FcmV1", "application/json", #"{"message":{"notification":{"title":"Hi"}}}"#, [:]),
        ("fcmv1", "application/json", #"{"message":{"data":{"a":"b"},"android":{"ttl":"3600s"}}}"#, [:]),
        ("fcmv1", "application/json", #"{"message":{"android":{"priority":"high","own":1}}}"#, [:]),
        ("fcmv1", "application/json", #"{"message":{"data":null,"token":"x"},"validate_only":false}"#, [:]),
        ("gcm", "application/json", #"{"data":{"message":"Hi"}}"#, [:]),
        ("windows", "application/xml", toast, ["X-WNS-Type": "wns/toast"]),
        ("windows", #"text/xml;charset="utf-8""#, toast, ["X-WNS-Type": "wns/toast"]),
        (
            "windows", "application/xml", "<?xml version=\"1.0\" encoding=\"utf-16\"?>" + toast,
            ["x-wns-type": "wns/toast"]
        ),
        ("windows", "application/octet-stream", "anything", ["X-WNS-Type": "wns/raw"]),
        (
            "windowsphone", "application/xml", "<Notification/>",
            ["X-WindowsPhone-Target": "token", "X-NotificationClass": "1"]
        ),
        ("windowsphone", "application/xml", "raw bytes", ["X-NotificationClass": "13"]),
        ("adm", "application/json", #"{"data":{}}"#, [:]),
        ("baidu", "application/x-www-form-urlencoded", #"{"title":"Hi"}"#, ["X-Baidu-Message-Type": "1"]),
        ("xiaomi", "application/json", "{}", [:]),
        ("browser", "application/json;charset=utf-8", #"{"title":"Hi"}"#, [:]),
        (
            "apple", "application/json", #"{"aps":{}}"#,
            [
                "apns-priority": "5", "apns-expiration": "0", "apns-push-type": "background", "apns-collapse-id": "s1",
                "ServiceBusNotification-Apns-Expiry": "1997-07-16T19:20+01:00", "X-Apns-Expiration": "\u{fffd}",
            ]
        ),
    ]

    @Test(arguments: sound)
    func `requests recorded from real clients are accepted`(
        format: String, contentType: String, body: String, headers: HubHeaders
    )
        throws
    {
        var test = try TestHub()
        let reply = test.send(body, format: format, contentType: contentType, headers: headers)
        #expect(reply.status == 201, "\(reply.text)")
        #expect(test.hub.received.total == 1)
    }

    private static let wrong: [(String, String, String, HubHeaders, String)] = [
        ("template", "application/json", #"{"a":{"nested":1}}"#, [:], "must be a string"),
        ("template", "application/json", #"["a"]"#, [:], "JSON object"),
        ("template", "application/json", #"{"a":"b""#, [:], "not valid JSON"),
        ("template", "text/plain", "{}", [:], "Content-Type"),
        ("apple", "application/json", "\"text\"", [:], "JSON object"),
        ("apple", "application/json", "", [:], "empty"),
        ("apple", "application/json", #"{"aps":{}}"#, ["apns-priority": "7"], "apns-priority"),
        ("apple", "application/json", #"{"aps":{}}"#, ["apns-expiration": "soon"], "apns-expiration"),
        ("apple", "application/json", #"{"aps":{}}"#, ["apns-push-type": "loud"], "apns-push-type"),
        ("apple", "application/json", #"{"aps":{}}"#, ["ServiceBusNotification-Apns-Expiry": "soon"], "Apns-Expiry"),
        ("windows", "application/xml", toast, [:], "X-WNS-Type"),
        ("windows", "application/xml", toast, ["X-WNS-Type": "wns/carrot"], "X-WNS-Type"),
        ("windows", "application/xml", "<toast>", ["X-WNS-Type": "wns/toast"], "well-formed"),
        ("windows", "application/xml", "<!DOCTYPE a><a/>", ["X-WNS-Type": "wns/toast"], "document type"),
        ("windowsphone", "application/xml", "<a/>", ["X-NotificationClass": "99"], "X-NotificationClass"),
        ("baidu", "application/json", "{}", ["X-Baidu-Message-Type": "2"], "X-Baidu-Message-Type"),
        ("nokiax", "application/json", "{}", [:], "not supported"),
        ("fcmv1", "application/json", "{}", [:], "'message' object"),
        ("fcmv1", "application/json", "[]", [:], "'message' object"),
        ("fcmv1", "application/json", #"{"data":{"message":"Hi"}}"#, [:], "'message' object"),
        ("fcmv1", "application/json", #"{"message":"Hi"}"#, [:], "'message' object"),
        ("fcmv1", "application/json", #"{"message":{"data":{"n":1}}}"#, [:], "message.data.n"),
        ("fcmv1", "application/json", #"{"message":{"data":{"a":{"b":"c"}}}}"#, [:], "message.data.a"),
        ("fcmv1", "application/json", #"{"message":{"data":["a"]}}"#, [:], "message.data"),
        ("fcmv1", "application/json", #"{"message":{"data":{"from":"a"}}}"#, [:], "reserves"),
        ("fcmv1", "application/json", #"{"message":{"data":{"gcm.n.e":"1"}}}"#, [:], "reserves"),
        ("fcmv1", "application/json", #"{"message":{"android":{"ttl":3600}}}"#, [:], "message.android.ttl"),
        ("fcmv1", "application/json", #"{"message":{"android":{"priority":"urgent"}}}"#, [:], "NORMAL, HIGH"),
        ("fcmv1", "application/json", #"{"message":{"android":{"notification":{"visibility":"ALL"}}}}"#, [:], "PUBLIC"),
        ("fcmv1", "application/json", #"{"message":{"notification":"Hi"}}"#, [:], "message.notification"),
    ]

    @Test(arguments: wrong)
    func `an invalid send is refused with 400 and the reason`(
        format: String, contentType: String, body: String, headers: HubHeaders, words: String
    ) throws {
        var test = try TestHub()
        let reply = test.send(body, format: format, contentType: contentType, headers: headers)
        #expect(reply.status == 400)
        #expect(reply.message?.contains(words) == true, "\(reply.text)")
        #expect(test.hub.received.total == 0)
    }

    @Test(arguments: [
        ("World", 201), ("World || Sports", 201), ("(a&&b)||!c", 201), ("", 201), ("  ", 201), ("a,b", 400),
        ("a &&", 400), ("Ö", 400), ("$InstallationId:{x} && sportsTemplate", 201), ("$Other", 400),
        ((1...20).map { "t\($0)" }.joined(separator: "||"), 201),
        ((1...21).map { "t\($0)" }.joined(separator: "||"), 400),
        ((1...6).map { "t\($0)" }.joined(separator: "&&"), 201),
        ((1...7).map { "t\($0)" }.joined(separator: "&&"), 400),
    ])
    func `tag expressions are checked`(tags: String, status: Int) throws {
        var test = try TestHub()
        #expect(test.send("{}", tags: tags).status == status)
    }

    @Test
    func `a body over 64 KB is too large`() throws {
        var test = try TestHub()
        let padding = String(repeating: "x", count: 64 * 1024 - 8)
        #expect(test.send("{\"a\":\"\(padding)\"}").status == 201)
        #expect(test.send("{\"a\":\"\(padding)x\"}").status == 413)
    }

    @Test(arguments: [
        ("?api-version=2020-06", 201), ("?api-version=2013-04", 201), ("", 201), ("?api-version=2031-01", 400),
        ("/?api-version=2015-01", 201), ("?direct&api-version=2015-04", 201),
    ])
    func `api versions are checked`(query: String, status: Int) throws {
        var test = try TestHub()
        let reply = test.send("{}", headers: ["ServiceBusNotification-DeviceHandle": "h"], query: query)
        #expect(reply.status == status)
    }

    @Test
    func `a direct send names its handle`() throws {
        var test = try TestHub()
        let reply = test.send(
            "{}", format: "apple", tags: nil, headers: ["ServiceBusNotification-DeviceHandle": "AB12"],
            query: "?direct&api-version=2020-06")
        #expect(reply.headers["Location"]?.hasSuffix("?api-version=2020-06") == true)
        #expect(test.hub.received[1]?.handles == ["AB12"])
        #expect(test.hub.received[1]?.kind == .direct)
        #expect(test.send(#"{"aps":{}}"#, format: "apple", query: "?direct=true").status == 400)
    }

    @Test
    func `tiers without telemetry return no location`() throws {
        var test = try TestHub { $0.tier = .basic }
        let reply = test.send("{}")
        #expect(reply.status == 201)
        #expect(reply.headers["Location"] == nil)
    }

    @Test
    func `the hub names the time to wait beyond the rate`() throws {
        var test = try TestHub { $0.sendsPerMinute = 60 }
        let first = (1...60).map { _ in test.send("{}").status }
        #expect(first.allSatisfy { $0 == 201 })
        let throttled = test.send("{}")
        #expect(throttled.status == 429)
        #expect(throttled.headers["Retry-After"] == "1")
        let old = test.send("{}", query: "?api-version=2016-07")
        #expect(old.status == 403 && old.headers["Retry-After"] == "1")
        test.now = test.now.advanced(byMilliseconds: 1000)
        #expect(test.send("{}").status == 201)
        #expect(test.send("{}").status == 429)
    }
}
