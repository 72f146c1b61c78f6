import Foundation
import NotificationHub
import Testing

/// The bodies that a device sends to register, and those that it reads.
struct RegistrationBodyTests {
    private let endpoint = HubEndpoint(scheme: .https, host: "ns.servicebus.windows.net")

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func `a native entry has the device and its tags`() throws {
        let entry = RegistrationEntry(
            channel: .apple(deviceToken: "AB12"), tags: [try Tag("World"), try Tag("Sports")])
        #expect(
            text(entry.bytes) == """
                <?xml version="1.0" encoding="utf-8"?><entry xmlns="http://www.w3.org/2005/Atom">\
                <content type="application/xml"><AppleRegistrationDescription \
                xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
                <Tags>World,Sports</Tags><DeviceToken>AB12</DeviceToken></AppleRegistrationDescription></content></entry>
                """)
    }

    @Test(arguments: [
        (
            PushChannel.apple(deviceToken: "AB"),
            """
            <AppleTemplateRegistrationDescription|<DeviceToken>AB</DeviceToken><BodyTemplate>{"a":"&lt;]]&gt;&amp;"}</BodyTemplate>\
            <Expiry>0</Expiry><TemplateName>n</TemplateName><ApnsHeaders><ApnsHeader><Header>h</Header><Value>v</Value>\
            </ApnsHeader></ApnsHeaders>
            """
        ),
        (
            .windows(channelURI: "https://x/?a=1&b=2"),
            """
            <WindowsTemplateRegistrationDescription|<ChannelUri>https://x/?a=1&amp;b=2</ChannelUri>\
            <BodyTemplate>{"a":"&lt;]]&gt;&amp;"}</BodyTemplate><WnsHeaders><WnsHeader><Header>h</Header><Value>v</Value>\
            </WnsHeader></WnsHeaders><TemplateName>n</TemplateName>
            """
        ),
        (
            .fcmv1(registrationToken: "t"),
            """
            <FcmV1TemplateRegistrationDescription|<FcmV1RegistrationId>t</FcmV1RegistrationId>\
            <BodyTemplate>{"a":"&lt;]]&gt;&amp;"}</BodyTemplate><TemplateName>n</TemplateName>
            """
        ),
        (
            .browser(endpoint: "e", p256dh: "p", auth: "a"),
            """
            <BrowserTemplateRegistrationDescription|<Endpoint>e</Endpoint><P256DH>p</P256DH><Auth>a</Auth>\
            <BodyTemplate>{"a":"&lt;]]&gt;&amp;"}</BodyTemplate><TemplateName>n</TemplateName>
            """
        ),
    ])
    func `a template entry has its elements in the service's order`(channel: PushChannel, expected: String) {
        let template = PushTemplate(name: "n", body: #"{"a":"<]]>&"}"#, headers: [.init("h", "v")], expiry: "0")
        let written = text(RegistrationEntry(channel: channel, tags: [], template: template).bytes)
        for part in expected.split(separator: "|") { #expect(written.contains(part), "\(written)") }
    }

    @Test func `characters that XML cannot hold are replaced`() {
        let entry = RegistrationEntry(channel: .fcmv1(registrationToken: "a\u{0}\u{1B}\u{FFFE}b\r\n\té😀"), tags: [])
        #expect(text(entry.bytes).contains(">a\u{FFFD}\u{FFFD}\u{FFFD}b&#13;\n\té😀<"))
    }

    @Test func `an installation is one JSON object`() throws {
        let template = PushTemplate(
            name: "n\"1", body: "{\"a\":\"\\\u{1}\n😀\"}", headers: [.init("apns-priority", "10")], expiry: "0")
        let body = InstallationBody(
            id: "i-1", channel: .browser(endpoint: "e", p256dh: "p", auth: "a"), tags: [try Tag("World")],
            templates: [template], userID: "u")
        let json = try #require(try JSONSerialization.jsonObject(with: Data(body.bytes)) as? NSDictionary)
        let expected: NSDictionary = [
            "installationId": "i-1", "userId": "u", "platform": "browser",
            "pushChannel": ["endpoint": "e", "p256dh": "p", "auth": "a"], "tags": ["World"],
            "templates": ["n\"1": ["body": template.body, "headers": ["apns-priority": "10"], "expiry": "0"]],
        ]
        #expect(json == expected)
        let plain = InstallationBody(id: "i", channel: .apple([0x0F, 0xA0]), tags: [])
        #expect(
            text(plain.bytes)
                == #"{"installationId":"i","platform":"apns","pushChannel":"0FA0","tags":[],"templates":{}}"#)
    }

    @Test func `paths have the form that hubs expect`() throws {
        let path = HubPath(endpoint: endpoint, hub: try HubName("BreakingNews"))
        #expect(
            path.newID == "/BreakingNews/registrationids?api-version=2020-06")
        #expect(
            path.registration("1-2-3")
                == "/BreakingNews/registrations/1-2-3?api-version=2020-06")
        #expect(
            path.installation("a/b?")
                == "/BreakingNews/installations/a%2Fb%3F?api-version=2020-06")
        #expect(
            path.registrations(of: .windows(channelURI: "https://x/'&"))
                == "/BreakingNews/registrations?$filter=ChannelUri%20eq%20%27https%3A%2F%2Fx%2F%27%27%26%27"
                + "&api-version=2020-06")
    }

    @Test(arguments: [
        ("https://ns/hub/registrationids/258-6288-3?api-version=2020-06", "258-6288-3"), ("1-2-3", "1-2-3"), ("", nil),
        ("/", nil), ("https://ns/hub/registrationids/..", nil), ("https://ns/a%2Fb", nil), ("https://ns/a%0D%0Ab", nil),
        ("https://ns/" + String(repeating: "1", count: 129), nil),
    ])
    func `an id is the last segment of a location`(location: String, id: String?) {
        #expect(HubPath.id(inLocation: location) == id)
    }

    @Test func `a feed from a recording of the service is read`() {
        let feed = """
            <feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Registrations</title>\
            <!-- <RegistrationId>no</RegistrationId> --><entry a:etag="W/&quot;1&quot;"><content type="application/xml">\
            <AppleTemplateRegistrationDescription xmlns:i="x>y"><ETag>1</ETag><RegistrationId>1-2-3</RegistrationId>\
            <Tags>World, $InstallationId:{ef4f-64}</Tags><DeviceToken>AB</DeviceToken><BodyTemplate><![CDATA[<RegistrationId>9</RegistrationId>]]></BodyTemplate>\
            <Expiry i:nil="true"/><TemplateName>a &amp; b</TemplateName></AppleTemplateRegistrationDescription></content>\
            </entry><entry><content><p:FcmV1RegistrationDescription><p:RegistrationId>4-5-6</p:RegistrationId>\
            </p:FcmV1RegistrationDescription></content></entry></feed>
            """
        let items = RegistrationFeed(parsing: Array(feed.utf8)).items
        #expect(items.map(\.id) == ["1-2-3", "4-5-6"])
        #expect(items.map(\.isTemplate) == [true, false])
        #expect(items.map(\.templateName) == ["a & b", nil])
        #expect(items.map(\.installation) == ["ef4f-64", nil])
    }

    @Test func `a feed that is truncated or has a changed byte gives ids that are safe to use`() {
        let whole = Array(
            """
            <feed><entry><content><AppleRegistrationDescription><RegistrationId>1-2-3</RegistrationId><!--x--><![CDATA[y]]>\
            <TemplateName i:nil="true"/></AppleRegistrationDescription></content></entry></feed>
            """.utf8)
        for index in whole.indices {
            #expect(RegistrationFeed(parsing: Array(whole[..<index])).items.count <= 1)
            for byte: UInt8 in [0, 0x22, 0x26, 0x2F, 0x3C, 0x3E, 0x5D, 0xFF] {
                var changed = whole
                changed[index] = byte
                for item in RegistrationFeed(parsing: changed).items {
                    #expect(HubPath.id(inLocation: item.id) == item.id)
                }
            }
        }
    }

    @Test func `a tag is encoded as its text`() throws {
        let tags = [try Tag("World"), try Tag(user: "u1")]
        let coded = try JSONEncoder().encode(tags)
        #expect(text(Array(coded)) == #"["World","$UserId:{u1}"]"#)
        #expect(try JSONDecoder().decode([NotificationHub.Tag].self, from: coded) == tags)
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([NotificationHub.Tag].self, from: Data(#"["no tag"]"#.utf8))
        }
    }
}
