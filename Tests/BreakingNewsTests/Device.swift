import BreakingNews
import Foundation
import HubServer
import NotificationHub
import Synchronization

/// A device: a store, a clock that advances only when a test moves it, and a connection to the hub.
final class Device: Sendable, RegistrationClock {
    static let start: Int64 = 1_800_000_000

    let store: any LocalStore = MemoryStore()
    private let time: Mutex<Int64>

    /// - Parameter now: the time of the server that checks the tokens.
    init(now: Int64 = Int64(Date().timeIntervalSince1970)) {
        time = Mutex(now)
    }

    var now: Int64 { time.withLock { $0 } }
    func advance(by seconds: Int64) { time.withLock { $0 += seconds } }
    func sleep(seconds: Int64) async { advance(by: seconds) }
    func newID() -> String { UUID().uuidString.lowercased() }

    /// A registrar as it is after a new start of the app.
    func registrar(
        _ hub: RunningHub, form: RegistrationForm = .installation, connection: ConnectionString? = nil,
        transport: any HubTransport = SessionTransport()
    ) throws -> HubRegistrar {
        var settings = RegistrationSettings(
            connection: connection ?? hub.listenConnectionString ?? hub.connectionString,
            hub: try HubName("BreakingNews"), form: form)
        settings.refreshAfter = 24 * 3600
        return HubRegistrar(settings, store: store, transport: transport, clock: self)
    }
}

/// Records the requests that pass.
final class CountingTransport: HubTransport {
    private let seen = Mutex<[String]>([])
    private let inner = SessionTransport()

    /// The method and the path of each request in order, without ids and query.
    var calls: [String] {
        seen.withLock { seen in
            defer { seen = [] }
            return seen
        }
    }

    func send(_ request: HubRequest) async throws -> HubResponse {
        let path = request.target.prefix { $0 != "?" }.split(separator: "/").dropFirst().first ?? ""
        seen.withLock { $0.append("\(request.method) \(path)") }
        return try await inner.send(request)
    }
}

func withHub(_ body: (RunningHub) async throws -> Void) async throws {
    let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))).start()
    do { try await body(hub) } catch {
        await hub.stop()
        throw error
    }
    await hub.stop()
}

extension RunningHub {
    /// A send over plain HTTP, as a back end makes it.
    func send(_ body: String, to tag: String, format: Platform = .template) async throws -> Int {
        var token = AccessToken(connectionString)
        let request = HubRequest(
            method: "POST", endpoint: connectionString.endpoint,
            target: HubPath(endpoint: connectionString.endpoint, hub: try HubName("BreakingNews")).send,
            fields: [
                HeaderField("Authorization", token.headerValue(at: Int64(Date().timeIntervalSince1970))),
                HeaderField("ServiceBusNotification-Format", format.rawValue),
                HeaderField("ServiceBusNotification-Tags", tag), HeaderField("Content-Type", format.contentType),
                HeaderField("X-WNS-Type", "wns/toast"),
            ], body: Array(body.utf8))
        return try await SessionTransport().send(request).status
    }
}

extension PushChannel {
    static let everyKind: [PushChannel] = [
        .apple(deviceToken: "0A1B2C"), .fcmv1(registrationToken: "fcm:token_1"),
        .windows(channelURI: "https://wns.example/?token=a%2bb&x='1'"),
        .browser(endpoint: "https://push.example/send/1", p256dh: "B-key", auth: "secret"),
    ]
}
