import NotificationHub
import Testing

@testable import HubEmulator

/// Every call that the tutorials make, as they make it.
struct TutorialTests {
    private static let categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"]

    /// The Objective-C library's refresh, create and PUT with a Listen key.
    private func register(_ test: inout TestHub, kind: String, _ token: String, tags: String, extra: String = "") throws
        -> String
    {
        let listen = HubSettings.listenRuleName
        let refresh = test.call(
            "GET", "/Registrations/?$filter=deviceToken+eq+'\(token)'&api-version=2013-04", rule: listen)
        #expect(refresh.status == 200)
        let created = test.call("POST", "/registrationids/?api-version=2013-04", rule: listen)
        #expect(created.status == 201)
        let id = try #require(created.headers["Location"].flatMap { NotificationID.inLocation($0) })
        let inner = "<Tags>\(tags)</Tags><DeviceToken>\(token)</DeviceToken>\(extra)"
        let put = test.call(
            "PUT", "/Registrations/\(id)?api-version=2013-04", rule: listen,
            headers: ["Content-Type": "application/xml"],
            body: RegistrationTests.entry(kind, inner))
        #expect(put.status == 200, "\(put.text)")
        return id
    }

    @Test
    func `a template reader gets its categories from the six sends, once each`() throws {
        var test = try TestHub()
        let template =
            "<BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(messageParam)\"}}]]></BodyTemplate><Expiry>0</Expiry>"
            + "<TemplateName>simpleAPNSTemplate</TemplateName>"
        let id = try register(&test, kind: "AppleTemplate", "AB12", tags: "World,Sports", extra: template)
        for category in Self.categories {
            let reply = test.call(
                "POST", "/messages/?api-version=2015-01",
                headers: [
                    "ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": category,
                    "Content-Type": "application/json;charset=utf-8",
                ], body: #"{"messageParam":"Breaking \#(category) News!"}"#)
            #expect(reply.status == 201)
        }
        let delivered = test.hub.deliver(limit: 100, at: test.now).map { String(decoding: $0.body, as: UTF8.self) }
        #expect(
            delivered == [
                #"{"aps":{"alert":"Breaking World News!"}}"#, #"{"aps":{"alert":"Breaking Sports News!"}}"#,
            ])
        let gone = test.call(
            "DELETE", "/Registrations/\(id)?api-version=2013-04", rule: HubSettings.listenRuleName,
            headers: ["If-Match": "*"])
        #expect(gone.status == 200)
    }

    private static let toast =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><toast><visual><binding template=\"ToastText01\">"
        + "<text id=\"1\">Breaking News!</text></binding></visual></toast>"

    private static let natives: [(String, HubHeaders, String, Int)] = [
        ("windows", ["X-WNS-Type": "wns/toast", "Content-Type": "application/xml"], toast, 201),
        ("windows", ["X-WNS-Type": "wns/toast", "Content-Type": "text/xml;charset=\"utf-8\""], toast, 201),
        ("gcm", ["Content-Type": "application/json"], #"{"data":{"message":"Breaking World News : text"}}"#, 201),
        ("apple", ["Content-Type": "application/json;charset=\"utf-8\""], #"{"aps":{"alert":"Breaking News!"}}"#, 201),
        (
            "apple", ["Content-Type": "application/json"],
            #"{"aps":{"alert":"Breaking News!"},"inAppMessage":"Breaking News!"}"#, 201
        ),
        // The tutorial passes the toast where the alert belongs.
        ("apple", ["Content-Type": "application/json"], toast, 400),
    ]

    @Test(arguments: natives)
    func `native sends to every platform of the tutorials`(
        format: String, headers: HubHeaders, body: String, status: Int
    ) throws {
        var test = try TestHub()
        var fields = headers
        fields.append("ServiceBusNotification-Format", format)
        fields.append("ServiceBusNotification-Tags", "World")
        let reply = test.call("POST", "/Messages?api-version=2016-07", headers: fields, body: body)
        #expect(reply.status == status, "\(reply.text)")
        if status == 400 { #expect(reply.message == "The body is not valid JSON") }
    }

    @Test
    func `a native reader hears of its categories`() throws {
        var test = try TestHub()
        _ = try register(&test, kind: "Apple", "CD34", tags: "Politics")
        for category in Self.categories {
            _ = test.send(#"{"aps":{"alert":"Breaking \#(category) News : x"}}"#, format: "apple", tags: category)
        }
        #expect(test.hub.deliver(limit: 100, at: test.now).map(\.handle) == ["CD34"])
    }
}
