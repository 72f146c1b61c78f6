import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// The forms of answers before and after the service has changed them, as recorded.
struct EraTests {
    private func hub(_ era: APIEra) throws -> TestHub {
        var test = try TestHub { $0.era = era }
        test.now = HubTime(milliseconds: 1_541_549_917_238)
        return test
    }

    private static let template = WireTable.entry(
        "AppleTemplate",
        "<Tags>tag1</Tags><PushVariables>{\"var1\":\"value1\"}</PushVariables><DeviceToken>62BC</DeviceToken>"
            + "<BodyTemplate><![CDATA[{\"aps\":{\"alert\":\"alert!\"}}]]></BodyTemplate><TemplateName>Template Name</TemplateName>"
    )

    /// The content of `template`'s description, after its start tag.
    private static func description(expires: String) -> String {
        """
        <ETag>1</ETag><ExpirationTime>\(expires)</ExpirationTime><RegistrationId>123-234-1</RegistrationId>\
        <Tags>tag1</Tags><PushVariables>{"var1":"value1"}</PushVariables><DeviceToken>62BC</DeviceToken>\
        <BodyTemplate><![CDATA[{"aps":{"alert":"alert!"}}]]></BodyTemplate><Expiry i:nil="true"/>\
        <TemplateName>Template Name</TemplateName><ApnsHeaders/></AppleTemplateRegistrationDescription>
        """
    }

    @Test
    func `an entry is written as recorded in 2018`() throws {
        var test = try hub(.year2018)
        let path = "/registrations/123-234-1?api-version=2015-01"
        let made = test.call("PUT", path, body: Self.template)
        let url = "http://news.example/BreakingNews" + path
        #expect(
            made.text == """
                <entry a:etag="W/&quot;1&quot;" xmlns="http://www.w3.org/2005/Atom" \
                xmlns:a="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"><id>\(url)</id>\
                <title type="text">123-234-1</title><published>2018-11-07T00:18:37Z</published>\
                <updated>2018-11-07T00:18:37Z</updated><link rel="self" href="\(url)"/><content type="application/xml">\
                <AppleTemplateRegistrationDescription \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" \
                xmlns:i="http://www.w3.org/2001/XMLSchema-instance">\
                \(Self.description(expires: "9999-12-31T23:59:59.999"))</content></entry>
                """)
        #expect(made.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8")
        #expect(made.headers["ETag"] == "W/\"1\"")
        let read = test.call("GET", path)
        #expect(read.text.contains("<ExpirationTime>9999-12-31T23:59:59.999Z<"))
        #expect(read.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8")
        let created = test.call("POST", "/registrations?api-version=2015-01", body: Self.template)
        let id = try XMLReader.read(created.body).child("id")?.text
        #expect(created.headers["Content-Location"] == id)
    }

    @Test
    func `an entry is written as recorded in 2023`() throws {
        var test = try hub(.year2023)
        let path = "/registrations/123-234-1?api-version=2020-06"
        let made = test.call("PUT", path, body: Self.template)
        let url = "http://news.example/BreakingNews" + path
        #expect(
            made.text == """
                <entry p1:etag="W/&quot;1&quot;" \
                xmlns:p1="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" \
                xmlns="http://www.w3.org/2005/Atom"><id>\(url)</id>\
                <title type="text">123-234-1</title><published>2018-11-07T00:18:37Z</published>\
                <updated>2018-11-07T00:18:37Z</updated><link rel="self" href="\(url)" /><content type="application/xml">\
                <AppleTemplateRegistrationDescription xmlns:i="http://www.w3.org/2001/XMLSchema-instance" \
                xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">\
                \(Self.description(expires: "9999-12-31T23:59:59.9999999"))</content></entry>
                """)
        #expect(made.headers["Content-Type"] == "application/atom+xml; type=entry; charset=utf-8")
        #expect(made.headers["ETag"] == nil && made.headers["Content-Location"] == nil)
        let read = test.call("GET", path)
        #expect(read.headers["Content-Type"] == "application/xml")
        #expect(read.text.contains("<ExpirationTime>9999-12-31T23:59:59.9999999Z<"))
        let own = try #require(try XMLReader.read(read.body).child("id")?.text)
        #expect(own == "http://news.example/BreakingNews/resources/123-234-1?api-version=2020-06")
        // The address refers to the entry again.
        #expect(test.call("GET", String(own.dropFirst("http://news.example/BreakingNews".count))).text == read.text)
    }

    private static let feeds: [(APIEra, String, String, String)] = [
        (.year2018, "/registrations", "/registrations", "a"), (.year2018, "/registrations/", "/registrations", "a"),
        (.year2018, "/tags/tag1/registrations", "/tags/tag1/registrations", "a"),
        (.year2023, "/registrations", "/resources", "p2"), (.year2023, "/Registrations/", "/resources", "p2"),
        (.year2023, "/tags/tag1/registrations", "/resources", "p2"),
    ]

    @Test(arguments: feeds)
    func `each entry of a feed has its own namespace and one slash before its id`(
        era: APIEra, path: String, address: String, prefix: String
    ) throws {
        var test = try hub(era)
        _ = test.call("PUT", "/registrations/123-234-1", body: Self.template)
        let reply = test.call("GET", path + "?api-version=2020-06&$top=100")
        let base = "http://news.example/BreakingNews\(address)"
        #expect(
            reply.text.hasPrefix(
                "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">Registrations</title>"
                    + "<id>\(base)?api-version=2020-06&amp;$top=100</id>"))
        #expect(
            reply.text.contains(
                "<entry \(prefix):etag=\"W/&quot;1&quot;\" "
                    + "xmlns:\(prefix)=\"http://schemas.microsoft.com/ado/2007/08/dataservices/metadata\">"
                    + "<id>\(base)/123-234-1?api-version=2020-06&amp;$top=100</id>"))
        let type = era == .year2018 ? "application/atom+xml; type=feed; charset=utf-8" : "application/xml"
        #expect(reply.headers["Content-Type"] == type)
    }

    @Test
    func `a send is answered as recorded in 2018, and its telemetry is found`() throws {
        var test = try hub(.year2018)
        let reply = test.send("{}", headers: ["ServiceBusNotification-DeviceHandle": "h"], query: "?direct")
        #expect(reply.headers["Content-Type"] == "application/xml; charset=utf-8")
        #expect(reply.headers["TrackingId"] == nil && reply.headers["X-Powered-By"] == nil)
        let location = try #require(reply.headers["Location"])
        #expect(location.hasSuffix("&direct"))
        let id = try #require(NotificationID.inLocation(location))
        #expect(id.split(separator: "-").map(\.count).prefix(2) == [32, 14])
        #expect(test.call("GET", "/messages/\(id)").status == 200)
    }

    @Test(arguments: APIEra.allCases)
    func `telemetry is found by the ids of either form`(era: APIEra) throws {
        var test = try hub(era)
        for _ in 0..<3 { _ = test.send("{}") }
        for number in 1...3 {
            let id = try #require(test.hub.received[number]?.id)
            #expect(test.call("GET", "/messages/\(id)").text.contains("<NotificationId>\(id)<"))
            // An id with other digits must not match another send's number.
            #expect(test.call("GET", "/messages/\(id.replacing("0", with: "1"))x").status == 404)
        }
    }

    @Test
    func `an error and a missing right are answered as recorded before 2022`() throws {
        var test = try hub(.year2018)
        let missing = test.call("GET", "/installations/none").text
        #expect(missing.hasPrefix("<Error><Code>404</Code><Detail>Installation not found.TrackingId:"))
        #expect(missing.hasSuffix(",TimeStamp:11/7/2018 12:18:37 AM</Detail></Error>"))
        let listed = test.call("GET", "/registrations", rule: HubSettings.listenRuleName)
        #expect(listed.status == 401 && listed.message == "Manage claim is required for this operation.")
        let sent = test.call("POST", "/messages", rule: HubSettings.listenRuleName)
        #expect(sent.status == 401 && sent.message == "Send claim is required for this operation.")
    }

    private static let empty: [(APIEra, String, String, HubHeaders, String, String?)] = [
        (.year2018, "POST", "/registrationids?api-version=2020-06", [:], "", nil),
        (
            .year2023, "POST", "/registrationids?api-version=2020-06", [:], "",
            "application/atom+xml; type=entry; charset=utf-8"
        ),
        (.year2018, "DELETE", "/registrations/123-234-1", ["If-Match": "*"], "", nil),
        (.year2023, "DELETE", "/registrations/123-234-1", ["If-Match": "*"], "", nil),
        (.year2018, "PUT", "/installations/i", [:], WireTable.installation, "application/xml; charset=utf-8"),
        (.year2023, "PUT", "/installations/i", [:], WireTable.installation, nil),
        (.year2018, "DELETE", "/installations/i", [:], "", "application/xml; charset=utf-8"),
        (.year2023, "DELETE", "/installations/i", [:], "", nil),
    ]

    @Test(arguments: empty)
    func `answers without a body are labelled as recorded`(
        era: APIEra, method: String, path: String, headers: HubHeaders, body: String, type: String?
    ) throws {
        var test = try hub(era)
        _ = test.call("PUT", "/registrations/123-234-1", body: Self.template)
        let reply = test.call(method, path, headers: headers, body: body)
        #expect(200..<300 ~= reply.status && reply.body.isEmpty)
        #expect(reply.headers["Content-Type"] == type)
        #expect(reply.headers["Location"]?.contains("?") != (era == .year2023))
    }
}
