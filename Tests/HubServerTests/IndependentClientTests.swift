import Foundation
import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

private let python = Python(with: "azure_notification_hub", "notificationhubs_rest_python")

/// Third-party clients in another language against the served hub.
@Suite(.enabled(if: python != nil, "needs the two clients of deploy/test-requirements.txt (in NEWSWIRE_TEST_PYTHON)"))
struct IndependentClientTests {
    private static let overHTTP = """
        import json, sys
        from azure_notification_hub.client import NotificationHubsClient, AzureNHError
        from azure_notification_hub.notifications import *

        client = NotificationHubsClient(sys.argv[1], sys.argv[2])
        client.create_or_update_installation({
            "installationId": "py1", "platform": "apns", "pushChannel": "AB12", "tags": ["World"],
            "templates": {"t": {"body": '{"aps":{"alert":"$(messageParam)"}}'}}})
        # The service labels this JSON as XML, so the client hands it over as text.
        tags = lambda: json.loads(client.get_installation("py1")["_raw_xml"])["tags"]
        assert tags() == ["World"]
        client.update_installation("py1", [{"op": "add", "path": "/tags", "value": "Sports"}])
        assert tags() == ["World", "Sports"]
        registrations = client.list_registrations()
        assert len(registrations) == 2, registrations
        print(registrations[0])
        print(client.send_notification(create_template_notification({"messageParam": "Goal!"}), tag_expression="Sports && !Politics"))
        print(client.send_notification(create_apple_notification({"aps": {"alert": "Native"}}), tag_expression="World"))
        client.delete_installation("py1")
        try:
            client.get_installation("py1")
            raise SystemExit("the installation is still there")
        except AzureNHError as error:
            assert error.status_code == 404
        """

    private static let overHTTPS = """
        import sys
        from notificationhubs_rest_python.NotificationHub import AzureNotificationHub

        hub = AzureNotificationHub(sys.argv[1], sys.argv[2])
        hub.send_template_notification({"messageParam": "One"}, tags="World || Sports")
        hub.send_apple_notification(False, {"aps": {"alert": "Two"}}, tags="World")
        hub.send_apple_notification(True, {"aps": {"alert": "Three"}}, device_handle="AB12")
        """

    @Test
    func `a client over http registers, sends and receives`() async throws {
        let settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        let hub = try await HubServer(settings).start()
        #expect(try await Self.run(Self.overHTTP, hub) == 0)
        #expect(hub.received.map(\.format) == [.template, .apple])
        #expect(hub.received.map(\.tags) == ["Sports && !Politics", "World"])
        await hub.stop()
    }

    @Test
    func `a client that requires https can send`() async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.security = .selfSigned
        let server = try HubServer(settings)
        let hub = try await server.start()
        let trusted = FileManager.default.temporaryDirectory.appending(path: "hub-\(hub.port).pem")
        try Data((server.certificatePEM ?? "").utf8).write(to: trusted)
        defer { try? FileManager.default.removeItem(at: trusted) }
        #expect(try await Self.run(Self.overHTTPS, hub, environment: ["REQUESTS_CA_BUNDLE": trusted.path]) == 0)
        #expect(hub.received.map(\.format) == [.template, .apple, .apple])
        #expect(hub.received.last?.handles == ["AB12"])
        await hub.stop()
    }

    private static func run(
        _ program: String, _ hub: RunningHub, environment: [String: String] = [:]
    ) async throws -> Int32 {
        try await #require(python).run(
            program, arguments: [hub.connectionString.revealed, hub.hubName.text], environment: environment
        ).status
    }
}
