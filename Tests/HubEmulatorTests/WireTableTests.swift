import Foundation
import NotificationHub
import Testing

@testable import HubEmulator

/// Each row of the emulator's table of calls, in its order.
struct WireTableTests {
    static let apple = RegistrationTests.entry("Apple", "<Tags>World</Tags><DeviceToken>AB</DeviceToken>")
    static let installation = #"{"platform":"apns","pushChannel":"AB","tags":["World"]}"#
    static let alert: HubHeaders = ["ServiceBusNotification-Format": "apple", "Content-Type": "application/json"]

    private static let description = """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubDescription \
        xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"/></content></entry>
        """

    private static let rows =
        ofHub.map { ($0, "/{hub}" + $1, $2, $3, $4) } + ofNamespace

    private static let ofNamespace: [(String, String, HubHeaders, String, Int)] = [
        ("PUT", "/{hub}?api-version=2017-04", [:], description, 409),
        ("GET", "/{hub}?api-version=2017-04", [:], "", 200),
        ("DELETE", "/{hub}?api-version=2017-04", [:], "", 200),
        ("GET", "/", [:], "", 200),
        ("GET", "/$Resources/NotificationHubs?api-version=2017-04", [:], "", 200),
    ]

    private static let ofHub: [(String, String, HubHeaders, String, Int)] = [
        ("POST", "/messages?api-version=2020-06", alert, "{}", 201),
        (
            "POST", "/messages?direct&api-version=2020-06",
            [
                "ServiceBusNotification-Format": "apple", "Content-Type": "application/json",
                "ServiceBusNotification-DeviceHandle": "AB",
            ], "{}", 201
        ),
        ("POST", "/messages?test&api-version=2020-06", alert, "{}", 201),
        (
            "POST", "/messages/$batch?direct&api-version=2020-06",
            [
                "ServiceBusNotification-Format": "apple",
                "Content-Type": "multipart/mixed; boundary=b",
            ],
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--b\r\n"
                + "Content-Disposition: inline; name=devices\r\n\r\n[\"AB\"]\r\n--b--", 201
        ),
        (
            "POST", "/schedulednotifications?api-version=2020-06",
            [
                "ServiceBusNotification-Format": "apple",
                "Content-Type": "application/json", "ServiceBusNotification-ScheduleTime": "2027-01-15T09:00:00",
            ], "{}", 201
        ),
        ("DELETE", "/schedulednotifications/none?api-version=2020-06", [:], "", 404),
        ("GET", "/messages/none?api-version=2016-07", [:], "", 404),
        ("POST", "/registrationids?api-version=2015-01", [:], "", 201),
        ("POST", "/registrations?api-version=2015-01", [:], apple, 200),
        ("PUT", "/registrations/1-1-1?api-version=2015-01", [:], apple, 200),
        ("GET", "/registrations/1-1-1?api-version=2015-01", [:], "", 404),
        ("DELETE", "/registrations/1-1-1?api-version=2015-01", ["If-Match": "*"], "", 404),
        ("GET", "/registrations?$top=100&api-version=2015-01", [:], "", 200),
        ("GET", "/tags/World/registrations?api-version=2015-01", [:], "", 200),
        ("GET", "/registrations?$filter=ChannelUri+eq+'AB'&api-version=2015-01", [:], "", 200),
        ("PUT", "/installations/i?api-version=2020-06", [:], installation, 200),
        ("GET", "/installations/i?api-version=2020-06", [:], "", 404),
        ("PATCH", "/installations/i?api-version=2020-06", [:], "[]", 404),
        ("DELETE", "/installations/i?api-version=2020-06", [:], "", 204),
        ("GET", "/feedbackcontainer?api-version=2015-01", [:], "", 200),
        ("POST", "/jobs?api-version=2014-09", [:], JobTests.job("ExportRegistrations", output: "http://a/b"), 201),
        ("GET", "/jobs?api-version=2014-09", [:], "", 200),
        ("GET", "/jobs/j?api-version=2014-09", [:], "", 404),
    ]

    @Test(arguments: rows)
    func `every call of the table is answered as the table says`(
        method: String, path: String, headers: HubHeaders, body: String, status: Int
    ) throws {
        var test = try TestNamespace()
        let path = path.replacing("{hub}", with: "BreakingNews")
        let reply = test.call(method, path, headers: headers, body: body)
        #expect(reply.status == status, "\(method) \(path): \(reply.text)")
        #expect(reply.headers["TrackingId"] != nil)
    }

    @Test
    func `the table in the documentation has these calls, in this order`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/HubServer/HubServer.docc/Emulator.md")
        let calls = try String(contentsOf: file, encoding: .utf8)
            .matches(of: /(?m)^\| `([A-Z]+) (\/[^?` _][^?`]*|\/)(\?[^`]*)?` \| (works|differs) \|/)
        #expect(calls.count == Self.rows.count)
        for (call, row) in zip(calls, Self.rows) {
            let (method, path, _, _, _) = row
            #expect(call.1 == method)
            let written = call.2.split(separator: "/")
            let asked = path.prefix { $0 != "?" }.split(separator: "/")
            #expect(written.count == asked.count, "\(call.0)")
            for (word, segment) in zip(written, asked) where word.first != "{" { #expect(word == segment) }
            if let flag = call.3?.prefix(while: { $0 != "=" }) { #expect(path.contains(flag.dropFirst())) }
        }
    }

    private static let rights: [(String, String, [String])] = [
        ("POST", "/registrationids", [HubSettings.fullRuleName, HubSettings.listenRuleName, "ManageOnly"]),
        ("GET", "/registrations", [HubSettings.fullRuleName, "ManageOnly"]),
        (
            "GET", "/registrations?$filter=ChannelUri+eq+'A'",
            [HubSettings.fullRuleName, HubSettings.listenRuleName, "ManageOnly"]
        ),
        ("GET", "/tags/a/registrations", [HubSettings.fullRuleName, "ManageOnly"]),
        ("DELETE", "/installations/i", [HubSettings.fullRuleName, HubSettings.listenRuleName, "ManageOnly"]),
        ("GET", "/messages/none", [HubSettings.fullRuleName, "SendOnly", "ManageOnly"]),
        ("DELETE", "/schedulednotifications/none", [HubSettings.fullRuleName, "SendOnly"]),
        ("GET", "/jobs", [HubSettings.fullRuleName, "ManageOnly"]),
    ]

    @Test(arguments: rights)
    func `each call requires its right`(method: String, path: String, allowed: [String]) throws {
        var test = try TestHub()
        for rule in [HubSettings.fullRuleName, HubSettings.listenRuleName, "SendOnly", "ManageOnly"] {
            let status = test.call(method, path, rule: rule).status
            #expect((status != 403) == allowed.contains(rule), "\(rule) got \(status)")
        }
    }
}
