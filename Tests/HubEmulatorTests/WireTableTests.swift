import Foundation
import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// The calls of the emulator's table, in its order.
struct WireTableTests {
    @Test(arguments: WireTable.calls)
    func `every call of the table is answered as the table says`(call: WireTable.Call) throws {
        var test = try TestNamespace()
        let path = call.target.replacing("{hub}", with: "BreakingNews")
        let reply = test.call(call.method, path, headers: call.headers, body: call.body)
        #expect(reply.status == call.status, "\(call.method) \(path): \(reply.text)")
        #expect(reply.headers["TrackingId"] != nil)
    }

    @Test
    func `the table in the documentation has these calls, in this order`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/HubServer/HubServer.docc/Emulator.md")
        let calls = try String(contentsOf: file, encoding: .utf8)
            .matches(of: /(?m)^\| `([A-Z]+) (\/[^?` _][^?`]*|\/)(\?[^`]*)?` \| (works|differs) \|/)
        #expect(calls.count == WireTable.calls.count)
        for (call, row) in zip(calls, WireTable.calls) {
            let path = row.target
            #expect(call.1 == row.method)
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
