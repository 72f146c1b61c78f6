import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// Every call of the tutorials, exactly as they make it.
struct TutorialTests {
    private static let categories = ["World", "Politics", "Business", "Technology", "Science", "Sports"]

    /// Registers with a Listen key like the Objective-C library: refresh, create and PUT.
    private func register(_ test: inout TestHub, kind: String, _ token: String, tags: String, extra: String = "") throws
        -> String
    {
        let listen = HubSettings.listenRuleName
        let refresh = test.call(
            "GET",
            "/Registrations/?$filter=\(kind.hasPrefix("Windows") ? "ChannelUri" : "deviceToken")+eq+'\(token)'&api-version=2013-04",
            rule: listen)
        #expect(refresh.status == 200)
        let created = test.call("POST", "/registrationids/?api-version=2013-04", rule: listen)
        #expect(created.status == 201)
        let id = try #require(created.headers["Location"].flatMap { NotificationID.inLocation($0) })
        let handle = kind.hasPrefix("Windows") ? "ChannelUri" : "DeviceToken"
        let inner = "<Tags>\(tags)</Tags><\(handle)>\(token)</\(handle)>\(extra)"
        let put = test.call(
            "PUT", "/Registrations/\(id)?api-version=2013-04", rule: listen,
            headers: ["Content-Type": "application/xml"],
            body: WireTable.entry(kind, inner))
        #expect(put.status == 200, "\(put.text)")
        return id
    }

    @Test
    func `a device with a template gets its categories of six sends, once each`() throws {
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

    @Test
    func `one send reaches the localized tutorials' iPhone and PC in their readers' languages`() throws {
        var test = try TestHub()
        func apple(_ language: String) -> String {
            "<BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(News_\(language))\"},\"inAppMessage\":\"$(News_\(language))\"}]]>"
                + "</BodyTemplate><Expiry>0</Expiry><TemplateName>localizednewsTemplate</TemplateName>"
        }
        func windows(_ language: String) -> String {
            "<BodyTemplate><![CDATA[<toast><visual><binding template=\"ToastText01\"><text id=\"1\">$(News_\(language))</text>"
                + "</binding></visual></toast>]]></BodyTemplate><WnsHeaders><WnsHeader><Header>X-WNS-Type</Header>"
                + "<Value>wns/toast</Value></WnsHeader></WnsHeaders><TemplateName>localizedWNSTemplateExample</TemplateName>"
        }
        _ = try register(&test, kind: "AppleTemplate", "AB12", tags: "World", extra: apple("French"))
        let channel = "https://wns.example/?token=1"
        _ = try register(&test, kind: "WindowsTemplate", channel, tags: "World", extra: windows("Mandarin"))
        let reply = test.call(
            "POST", "/messages/?api-version=2015-01",
            headers: [
                "ServiceBusNotification-Format": "template", "ServiceBusNotification-Tags": "World",
                "Content-Type": "application/json;charset=utf-8",
            ],
            body:
                #"{"messageParam":"Breaking World News!","News_English":"E","News_French":"\"F\"","News_Mandarin":"<中>"}"#
        )
        #expect(reply.status == 201)
        let delivered = Dictionary(
            test.hub.deliver(limit: 100, at: test.now).map { ($0.handle, String(decoding: $0.body, as: UTF8.self)) },
            uniquingKeysWith: { $0 + $1 })
        #expect(
            delivered == [
                "AB12": #"{"aps":{"alert":"\"F\""},"inAppMessage":"\"F\""}"#,
                channel:
                    "<toast><visual><binding template=\"ToastText01\"><text id=\"1\">&lt;中&gt;</text></binding></visual></toast>",
            ])
    }

    private static let toast =
        "<?xml version=\"1.0\" encoding=\"utf-8\"?><toast><visual><binding template=\"ToastText01\">"
        + "<text id=\"1\">Breaking News!</text></binding></visual></toast>"

    private static let natives: [(String, HubHeaders, String)] = [
        // .NET declares utf-16 and writes UTF-8.
        (
            "windows", ["X-WNS-Type": "wns/toast", "Content-Type": "application/xml"],
            toast.replacing("utf-8", with: "utf-16")
        ),
        ("windows", ["X-WNS-Type": "wns/toast", "Content-Type": "application/xml"], toast),
        ("windows", ["X-WNS-Type": "wns/toast", "Content-Type": "text/xml;charset=\"utf-8\""], toast),
        ("gcm", ["Content-Type": "application/json"], #"{"data":{"message":"Breaking World News : text"}}"#),
        ("apple", ["Content-Type": "application/json;charset=\"utf-8\""], #"{"aps":{"alert":"Breaking News!"}}"#),
        (
            "apple", ["Content-Type": "application/json"],
            #"{"aps":{"alert":"Breaking News!"},"inAppMessage":"Breaking News!"}"#
        ),
    ]

    /// The tutorials' mistakes and the hub's answers.
    private static let mistakes: [(String, String, HubHeaders, String, String)] = [
        // A toast is in the place of an alert.
        (
            "/messages/", "apple", ["Content-Type": "application/json"], toast, "The body is not valid JSON"
        ),
        // Text is pasted into the body without escaping.
        (
            "/messages/", "template", ["Content-Type": "application/json;charset=utf-8"],
            #"{"messageParam":"Breaking World News : He said "no""}"#, "The body is not valid JSON"
        ),
        (
            "/messages/", "gcm", ["Content-Type": "application/json"],
            "{\"data\":{\"message\":\"Breaking World News : one\ntwo\"}}", "The body is not valid JSON"
        ),
        (
            "/messages/", "windows", ["X-WNS-Type": "wns/toast", "Content-Type": "application/xml"],
            toast.replacing("Breaking News!", with: "Rest & recreation"), "The body is not well-formed XML"
        ),
        // The call of a method that the Node module lacks, with the path that its name suggests.
        ("/apple", "apple", ["Content-Type": "application/json"], "{}", "The requested resource was not found"),
    ]

    @Test(arguments: mistakes)
    func `a tutorial's wrong call is answered with the reason`(
        path: String, format: String, headers: HubHeaders, body: String, message: String
    ) throws {
        var test = try TestHub()
        var fields = headers
        fields.append("ServiceBusNotification-Format", format)
        fields.append("ServiceBusNotification-Tags", "World")
        let reply = test.call("POST", path + "?api-version=2015-01", headers: fields, body: body)
        #expect(reply.status == (path == "/apple" ? 404 : 400))
        #expect(reply.message == message)
    }

    @Test
    func `the key for apps may not send`() throws {
        var test = try TestHub()
        let headers: HubHeaders = ["Content-Type": "application/json", "ServiceBusNotification-Format": "template"]
        let reply = test.call(
            "POST", "/messages/?api-version=2015-01", rule: HubSettings.listenRuleName, headers: headers, body: "{}")
        #expect(reply.status == 403)
    }

    @Test(arguments: natives)
    func `native sends of the tutorials reach every platform`(
        format: String, headers: HubHeaders, body: String
    ) throws {
        var test = try TestHub()
        var fields = headers
        fields.append("ServiceBusNotification-Format", format)
        fields.append("ServiceBusNotification-Tags", "World")
        let reply = test.call("POST", "/Messages?api-version=2016-07", headers: fields, body: body)
        #expect(reply.status == 201, "\(reply.text)")
    }

    @Test(arguments: ["Apple", "Windows"])
    func `a native device gets its categories`(kind: String) throws {
        var test = try TestHub()
        _ = try register(&test, kind: kind, "CD34", tags: "Politics")
        for category in Self.categories {
            _ = test.send(#"{"aps":{"alert":"Breaking \#(category) News : x"}}"#, format: "apple", tags: category)
            _ = test.send(Self.toast, format: "windows", tags: category, headers: ["X-WNS-Type": "wns/toast"])
        }
        #expect(test.hub.deliver(limit: 100, at: test.now).map(\.handle) == ["CD34"])
    }
}
