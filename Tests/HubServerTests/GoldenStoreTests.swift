import Foundation
import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

/// Reads the emulator's store as released versions wrote it. `GoldenRecordTests` reads what they wrote to topics.
struct GoldenStoreTests {
    private static let folder = Golden.folder
    private static let versions = Golden.versions

    private static func settings(_ store: URL) throws -> HubServerSettings {
        var settings = HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))
        settings.storePath = store.path
        return settings
    }

    @Test func `there is a store of a version`() { #expect(Self.versions.contains("0.1.0")) }

    @Test(arguments: versions) func `a store is read with its keys, devices and deliveries`(version: String)
        async throws
    {
        let copy = FileManager.default.temporaryDirectory.appending(path: "golden-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: copy) }
        try FileManager.default.copyItem(at: Self.folder.appending(path: "\(version)/hub.sqlite"), to: copy)
        let hub = try await HubServer(try Self.settings(copy)).start()
        // A store without keys would get random ones.
        #expect(hub.connectionString.key == AccessKey("bmV3c3Jvb20taHViLXRlc3Qta2V5LTAwMDEhISEhISE="))
        #expect(hub.registrationCount == 2)
        let read = { (path: String) in
            try await RawClient.call(hub.port, "GET", "/BreakingNews/\(path)", headers: [try token(hub)]).text
        }
        let registration = try await read("registrations/1-2-3")
        #expect(registration.contains("<Tags>World</Tags>") && registration.contains("<DeviceToken>CC</DeviceToken>"))
        let installation = try await read("installations/golden?api-version=2020-06")
        #expect(installation.contains(#""pushChannel":"DD""#) && installation.contains("Sports"))
        #expect(hub.received.map(\.number) == [1])
        #expect(hub.delivered.map(\.handle) == ["CC"])
        await hub.stop()
    }

    private static let isWriting = ProcessInfo.processInfo.environment["NEWSWIRE_WRITE_GOLDEN"] != nil

    /// Adds the store of this version. `GoldenRecordTests` says when.
    @Test(.enabled(if: isWriting)) func `a store of this version is written`() async throws {
        let store = Self.folder.appending(path: "\(Self.versions.last ?? "")/hub.sqlite")
        try? FileManager.default.removeItem(at: store)
        let path = store.path
        try await withVectorHub({ $0.storePath = path }) { hub in
            let call = { (method: String, path: String, headers: [(String, String)], body: String) in
                let reply = try await RawClient.call(
                    hub.port, method, "/BreakingNews/\(path)", headers: [try token(hub)] + headers, body: body)
                #expect((200...201).contains(reply.status), "\(reply.text)")
            }
            let registration = """
                <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">\
                <AppleRegistrationDescription><Tags>World</Tags><DeviceToken>CC</DeviceToken>\
                </AppleRegistrationDescription></content></entry>
                """
            try await call("PUT", "registrations/1-2-3", [], registration)
            let installation = #"{"installationId":"golden","platform":"apns","pushChannel":"DD","tags":["Sports"]}"#
            try await call("PUT", "installations/golden?api-version=2020-06", [], installation)
            let send = [
                ("ServiceBusNotification-Format", "apple"), ("Content-Type", "application/json"),
                ("ServiceBusNotification-Tags", "World"),
            ]
            let deliveries = hub.deliveries(to: ["CC"])
            try await call("POST", "messages", send, #"{"aps":{"alert":"Golden"}}"#)
            if let deliveries { for await _ in deliveries { break } }
        }
    }
}
