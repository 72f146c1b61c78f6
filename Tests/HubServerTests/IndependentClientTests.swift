import Foundation
import HubEmulator
import HubServer
import NotificationHub
import Testing

/// Clients that others wrote, in another language, against the served hub.
///
/// `pip install azure-notification-hub-unofficial==0.1.0 notificationhubs-rest-python==1.0.3`, then name the interpreter.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["NEWSWIRE_TEST_PYTHON"] != nil,
        "set NEWSWIRE_TEST_PYTHON to a Python that has the two clients"))
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
    func `a client over http registers, sends and is told`() async throws {
        let settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        let hub = try await HubServer(settings).start()
        let said = try await Self.python(Self.overHTTP, hub)
        #expect(said.status == 0, "\(said.text)")
        #expect(hub.received.map(\.format) == [.template, .apple])
        #expect(hub.received.map(\.tags) == ["Sports && !Politics", "World"])
        await hub.stop()
    }

    @Test
    func `a client that insists on https sends`() async throws {
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.security = .selfSigned
        let server = try HubServer(settings)
        let hub = try await server.start()
        let trusted = FileManager.default.temporaryDirectory.appending(path: "hub-\(hub.port).pem")
        try Data((server.certificatePEM ?? "").utf8).write(to: trusted)
        defer { try? FileManager.default.removeItem(at: trusted) }
        let said = try await Self.python(Self.overHTTPS, hub, environment: ["REQUESTS_CA_BUNDLE": trusted.path])
        #expect(said.status == 0, "\(said.text)")
        #expect(hub.received.map(\.format) == [.template, .apple, .apple])
        #expect(hub.received.last?.handles == ["AB12"])
        await hub.stop()
    }

    private static func python(
        _ script: String, _ hub: RunningHub, environment: [String: String] = [:]
    ) async throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: ProcessInfo.processInfo.environment["NEWSWIRE_TEST_PYTHON"] ?? "")
        process.arguments = ["-c", script, hub.connectionString.revealed, hub.address.hubName.text]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        let (ended, end) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.run()
        var status: Int32 = -1
        for await ending in ended { status = ending }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return (status, text)
    }
}
