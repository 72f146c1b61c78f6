import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

struct RegistrationTests {
    /// The etag in an answered entry.
    static func etag(_ reply: HubHTTPResponse) -> String? {
        (try? XMLReader.read(reply.body))?.child("content")?.elements.first?.child("ETag")?.text
    }

    private static let kinds: [(String, String)] = [
        ("Apple", "<Tags>World, Sports</Tags><DeviceToken>AB12</DeviceToken>"),
        (
            "AppleTemplate",
            "<Tags>World</Tags><DeviceToken>AB12</DeviceToken><BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"$(messageParam)\"}}]]>"
                + "</BodyTemplate><Expiry>0</Expiry><TemplateName>simpleAPNSTemplate</TemplateName>"
        ),
        ("Windows", "<ChannelUri>https://wns/1</ChannelUri>"),
        (
            "WindowsTemplate",
            "<ChannelUri>https://wns/1</ChannelUri><BodyTemplate>&lt;toast&gt;&lt;t&gt;$(m)&lt;/t&gt;&lt;/toast&gt;</BodyTemplate>"
                + "<WnsHeaders><WnsHeader><Header>X-WNS-Type</Header><Value>wns/toast</Value></WnsHeader></WnsHeaders>"
        ),
        ("Mpns", "<ChannelUri>https://mpns/1</ChannelUri><SecondaryTileName>t</SecondaryTileName>"),
        ("Gcm", "<GcmRegistrationId>g1</GcmRegistrationId>"),
        ("FcmV1", "<FcmV1RegistrationId>f1</FcmV1RegistrationId>"),
        ("FcmV1Template", "<FcmV1RegistrationId>f1</FcmV1RegistrationId><BodyTemplate>{\"a\":\"$(m)\"}</BodyTemplate>"),
        ("Adm", "<AdmRegistrationId>a1</AdmRegistrationId>"),
        ("Baidu", "<BaiduUserId>u</BaiduUserId><BaiduChannelId>c</BaiduChannelId>"),
        ("Browser", "<Endpoint>https://push/1</Endpoint><P256DH>k</P256DH><Auth>a</Auth>"),
    ]

    @Test(arguments: kinds)
    func `registrations of every platform read back as written`(kind: String, inner: String) throws {
        var test = try TestHub()
        let made = test.call("POST", "/registrations?api-version=2015-01", body: WireTable.entry(kind, inner))
        #expect(made.status == 200, "\(made.text)")
        let id = try #require(try XMLReader.read(made.body).child("title")?.text)
        let read = test.call("GET", "/registrations/\(id)?api-version=2015-01")
        #expect(read.status == 200)
        let description = try #require(
            try XMLReader.read(read.body).child("content")?.child("\(kind)RegistrationDescription"))
        #expect(description.child("RegistrationId")?.text == id)
        #expect(description.child("ExpirationTime")?.text == "9999-12-31T23:59:59.9999999Z")
        let sent = try #require(
            try XMLReader.read(Array(WireTable.entry(kind, inner).utf8)).child("content")?.elements.first)
        for element in sent.elements where element.localName != "Tags" {
            #expect(description.child(String(element.localName)) == element)
        }
        // A client can send the answer back unchanged.
        let again = test.call(
            "PUT", "/registrations/\(id)?api-version=2015-01", headers: ["If-Match": "W/\"1\""], bytes: read.body)
        #expect(again.status == 200 && Self.etag(again) == "2", "\(again.text)")
    }

    @Test
    func `an id is reserved, filled, changed under its etag and deleted`() throws {
        var test = try TestHub()
        let reserved = test.call("POST", "/registrationIDs?api-version=2015-01", rule: HubSettings.listenRuleName)
        #expect(reserved.status == 201 && reserved.body.isEmpty)
        let id = try #require(reserved.headers["Location"].flatMap { NotificationID.inLocation($0) })
        let entry = WireTable.entry("Apple", "<DeviceToken>AB12</DeviceToken>")
        let put = { (test: inout TestHub, headers: HubHeaders) in
            test.call("PUT", "/Registrations/\(id)?api-version=2015-01", headers: headers, body: entry)
        }
        #expect(put(&test, ["If-Match": "*"]).status == 404)
        #expect(Self.etag(put(&test, [:])) == "1")
        #expect(Self.etag(put(&test, ["If-Match": "\"1\""])) == "2")
        #expect(put(&test, ["If-Match": "W/\"1\""]).status == 412)
        #expect(test.call("DELETE", "/registrations/\(id)").status == 400)
        #expect(test.call("DELETE", "/registrations/\(id)", headers: ["If-Match": "\"1\""]).status == 412)
        let deleted = test.call("DELETE", "/registrations/\(id)", headers: ["If-Match": "*"])
        #expect(deleted.status == 200 && deleted.body.isEmpty)
        let gone = test.call("GET", "/registrations/\(id)")
        #expect(gone.status == 404)
        #expect(gone.text.contains("<Detail>TrackingId:"))
    }

    @Test
    func `the iOS library's old form is accepted`() throws {
        var test = try TestHub()
        let body = """
            <entry xmlns="http://www.w3.org/2005/Atom"><content type="text/xml"><AppleRegistrationDescription \
            xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
            xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><Tags>World</Tags>\
            <DeviceToken>AB12</DeviceToken></AppleRegistrationDescription></content></entry>
            """
        #expect(test.call("PUT", "/Registrations/1-2-3?api-version=2013-04", body: body).status == 200)
        let typed = body.replacing(
            "<AppleRegistrationDescription", with: "<RegistrationDescription i:type=\"AppleRegistrationDescription\""
        )
        .replacing("</AppleRegistrationDescription", with: "</RegistrationDescription")
        #expect(test.call("PUT", "/Registrations/1-2-4?api-version=2013-04", body: typed).status == 200)
    }

    private static let wrong: [(String, String)] = [
        ("Apple", "<DeviceToken>XYZ</DeviceToken>"), ("Apple", "<DeviceToken>ABC</DeviceToken>"), ("Apple", ""),
        ("Apple", "<DeviceToken>AB</DeviceToken><Tags>$InstallationId:{x}</Tags>"),
        ("Apple", "<DeviceToken>AB</DeviceToken><Tags>a b</Tags>"), ("Nokia", "<Handle>x</Handle>"),
        ("Apple", "<DeviceToken>AB</DeviceToken><Tags>\((1...61).map { "t\($0)" }.joined(separator: ","))</Tags>"),
        ("AppleTemplate", "<DeviceToken>AB</DeviceToken>"),
        ("AppleTemplate", "<DeviceToken>AB</DeviceToken><BodyTemplate>{\"a\":\"#000000\"}</BodyTemplate>"),
        ("WindowsTemplate", "<ChannelUri>u</ChannelUri><BodyTemplate>&lt;toast/&gt;</BodyTemplate>"),
    ]

    @Test(arguments: wrong)
    func `an invalid registration is refused`(kind: String, inner: String) throws {
        var test = try TestHub()
        let reply = test.call("POST", "/registrations?api-version=2015-01", body: WireTable.entry(kind, inner))
        #expect(reply.status == 400 && reply.message?.isEmpty == false, "\(reply.text)")
        #expect(test.hub.registrationCount == 0)
    }

    @Test
    func `lists have pages and can be filtered by tag and by channel`() throws {
        var test = try TestHub()
        for index in 10..<35 {
            let tag = index % 2 == 0 ? "Even" : "odd"
            let inner = "<Tags>\(tag)</Tags><DeviceToken>\(index)</DeviceToken>"
            #expect(test.call("POST", "/registrations", body: WireTable.entry("Apple", inner)).status == 200)
        }
        var seen: [String] = []
        var token: String?
        repeat {
            let suffix = token.map { "&continuationtoken=\($0)" } ?? ""
            let page = test.call("GET", "/registrations?$top=10&api-version=2015-01\(suffix)")
            let feed = try XMLReader.read(page.body)
            let entries = feed.elements.filter { $0.localName == "entry" }
            #expect(entries.count <= 10)
            seen += entries.compactMap { $0.child("title")?.text }
            token = page.headers["x-ms-continuationtoken"]
            let next = feed.elements.first { $0.localName == "link" && $0.attribute("rel") == "next" }
            #expect((next == nil) == (token == nil))
            if let href = next?.attribute("href"), let token {
                #expect(href.hasSuffix(token.replacing("%", with: "%25")))
            }
        } while token != nil
        #expect(seen.count == 25 && Set(seen).count == 25)

        let tagged = try XMLReader.read(test.call("GET", "/tags/even/registrations?$top=100&api-version=2015-01").body)
        #expect(tagged.elements.count { $0.localName == "entry" } == 13)
        let byChannel = test.call(
            "GET", "/registrations?$filter=ChannelUri+eq+'11'&api-version=2015-01", rule: HubSettings.listenRuleName)
        #expect(try XMLReader.read(byChannel.body).elements.count { $0.localName == "entry" } == 1)
        let old = test.call(
            "GET", "/Registrations/?$filter=deviceToken%20eq%20%2711%27&api-version=2013-04",
            rule: HubSettings.listenRuleName)
        #expect(old.status == 200)
        #expect(test.call("GET", "/registrations", rule: HubSettings.listenRuleName).status == 403)
        #expect(test.call("GET", "/tags/even/registrations", rule: HubSettings.listenRuleName).status == 403)
        #expect(test.call("GET", "/registrations?$top=101").status == 400)
        #expect(test.call("GET", "/registrations?$filter=Tags+eq+'a'").status == 400)
    }

    @Test
    func `the tier's quota limits registrations`() throws {
        var test = try TestHub { $0.registrationsMax = 2 }
        let statuses = (10...12).map { index in
            test.call("POST", "/registrations", body: WireTable.entry("Apple", "<DeviceToken>\(index)</DeviceToken>"))
                .status
        }
        #expect(statuses == [200, 200, 403])
    }
}
