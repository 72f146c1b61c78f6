import BreakingNews
import Foundation
import HubServer
import NotificationHub
import Testing

@Test func `the article on BreakingNews shows the code of this file`() throws {
    let (shown, compiled) = try Article.code(
        of: "Sources/BreakingNews/BreakingNews.docc/BreakingNews.md",
        and: "Tests/ArticleTests/BreakingNewsArticle.swift")
    #expect(!shown.isEmpty)
    #expect(shown == compiled)
}

// snippet
/// The app's only object for notifications.
struct Notifications {
    let choices: CategoryStore
    let registrar: HubRegistrar

    /// - Parameter connectionString: the connection string of a key with the Listen right only.
    init(connectionString: String, hub: String, file: URL) throws {
        let store = FileStore(file)
        choices = CategoryStore(store)
        registrar = HubRegistrar(
            RegistrationSettings(connection: try ConnectionString(parsing: connectionString), hub: try HubName(hub)),
            store: store)
    }

    /// Registers the device. Call it with each token from the push service and after each change of the choices.
    func update(deviceToken: some Sequence<UInt8>) async {
        await registrar.want(Subscription(channel: .apple(deviceToken), categories: choices.chosen))
    }

    /// Retries until the hub has the registration. Run it for as long as the app runs.
    func run() async {
        await registrar.run()
    }
}
// end

@Test func `the article's app registers its reader's choices`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "article-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let hub = try await HubServer(HubServerSettings(port: 0, hubName: try HubName("BreakingNews"))).start()
    let listener = hub.listenConnectionString ?? hub.connectionString
    let app = try Notifications(connectionString: listener.revealed, hub: "BreakingNews", file: file)
    try app.choices.choose([try NewsCategory("Sports")])
    await app.update(deviceToken: [0x0A, 0x1B])
    let running = Task { await app.run() }
    while await app.registrar.settle() == .registering { await Task.yield() }
    running.cancel()
    await running.value
    #expect(hub.registrationCount > 0)
    await hub.stop()
}
