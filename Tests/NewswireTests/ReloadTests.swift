import Foundation
import FoundationNetworking
import HubEmulator
import HubServer
import KafkaIO
import NewswireCommands
import NotificationHub
import Testing

private func configuration(_ more: String) -> String {
    """
    kafka:
      bootstrapServers: ${BROKERS}
      properties: {session.timeout.ms: 6000, fetch.wait.max.ms: 10}
    lanes: {live: {topics: [news.events]}}
    hub: {connectionString: "${HUB}", name: breaking-news}
    http: {listen: off}
    logging: {format: json}
    \(more)
    """
}

@Test func `SIGHUP applies a changed file, refuses a bad one as a whole, and names the settings that need a restart`()
    async throws
{
    let room = try await ProgramRoom()
    try room.write(configuration("payload: {message: \"old {{headline}}\"}\n"), to: "newswire.yaml")
    let running = try Program.start(["run", "--config", room.path("newswire.yaml")], environment: room.environment)
    let line = #"{"id":"1","headline":"One","category":"World"}"#
    _ = try await room.run("publish", "-", input: line)
    let follower = try TopicReader(settings: room.broker.settings(group: "test"), topic: "news.results", follow: true)
    while try follower.next(timeout: .milliseconds(50)).isEmpty {
        // The hub in this process needs this thread too.
        await Task.yield()
    }

    try room.write(configuration("rate: {perSecond: none, burst: 0}\nhubb: 1\n"), to: "newswire.yaml")
    running.signal(SIGHUP)
    let refusal = try await running.wrote("reload refused")
    for problem in ["rate.perSecond", "rate.burst", "hubb"] { #expect(refusal.contains(problem)) }

    try room.write(
        configuration(
            """
            payload: {message: "new {{headline}}"}
            categories: {World: {tag: NewWorld}}
            rate: {perSecond: 700}
            retry: {attempts: 3}
            """), to: "newswire.yaml")
    let changed = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
    try room.write(
        changed.replacing("logging: {format: json}", with: "logging: {format: json, level: debug}")
            .replacing("fetch.wait.max.ms: 10", with: "fetch.wait.max.ms: 10, sasl.username: u, sasl.password: canary")
            + "\nusers: {secret: canary-canary-canary-canary}\n", to: "newswire.yaml")
    running.signal(SIGHUP)
    let reloaded = try await running.wrote("settings reloaded")
    for key in [
        "payload.message", "categories.World.tag", "rate.perSecond", "logging.level", "users.secret",
        "kafka.properties.sasl.password",
    ] {
        #expect(reloaded.contains(key), "\(reloaded)")
    }
    #expect(!reloaded.contains("canary"))
    let waiting = try await running.wrote("wait for a restart")
    #expect(waiting.contains("retry.attempts") && !waiting.contains("payload"))

    _ = try await room.run("publish", "-", input: line.replacing("\"1\"", with: "\"2\""))
    // Debug lines are on now.
    try await running.wrote("delivery settled")
    running.terminate()
    #expect(try await running.ended().status == 0)
    let tags = room.hub.received.map { "\($0.tags ?? "") \(String(decoding: $0.body, as: UTF8.self))" }
    #expect(tags.contains { $0.hasPrefix("World ") && $0.contains("old One") })
    #expect(tags.contains { $0.hasPrefix("NewWorld ") && $0.contains("new One") })
    await room.close()
}

/// Makes this the key of the rule `sender`, the only one of the hub besides the namespace's own.
private func setKey(_ key: String, of hub: RunningHub) async throws {
    let connection = try #require(hub.namespaceConnectionString)
    var token = AccessToken(connection)
    let url = "http://\(connection.endpoint.authority)/breaking-news?api-version=2015-01"
    var request = URLRequest(url: try #require(URL(string: url)))
    request.httpMethod = "PUT"
    request.setValue("*", forHTTPHeaderField: "If-Match")
    request.setValue("application/atom+xml;type=entry;charset=utf-8", forHTTPHeaderField: "Content-Type")
    request.setValue(token.headerValue(at: Int64(Date().timeIntervalSince1970)), forHTTPHeaderField: "Authorization")
    request.httpBody = Data(
        """
        <entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml">
        <NotificationHubDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
            xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><AuthorizationRules>
        <AuthorizationRule i:type="SharedAccessAuthorizationRule"><ClaimType>SharedAccessKey</ClaimType>
        <ClaimValue>None</ClaimValue><Rights><AccessRights>Send</AccessRights></Rights><KeyName>sender</KeyName>
        <PrimaryKey>\(key)</PrimaryKey></AuthorizationRule></AuthorizationRules></NotificationHubDescription></content></entry>
        """.utf8)
    let (body, response) = try await URLSession.shared.data(for: request)
    let status = (response as? HTTPURLResponse)?.statusCode
    #expect(status == 200, "\(String(decoding: body, as: UTF8.self))")
}

@Test func `a rotated key is read again once the hub refuses the former one, and at SIGHUP`() async throws {
    let room = try await ProgramRoom()
    let endpoint = "Endpoint=http://\(room.hub.connectionString.endpoint.authority)/;SharedAccessKeyName=sender;"
    func write(key: String) throws { try room.write("\(endpoint)SharedAccessKey=\(key)\n", to: "key") }
    func publish(_ id: String) async throws {
        let event = #"{"id":"\#(id)","headline":"h","category":"World"}"#
        #expect(try await room.run("publish", "-", input: event).status == 0)
    }
    try room.write(configuration("").replacing("${HUB}", with: "${file:\(room.path("key"))}"), to: "newswire.yaml")
    try write(key: "first-key")
    try await setKey("first-key", of: room.hub)
    let running = try Program.start(["run", "--config", room.path("newswire.yaml")], environment: room.environment)
    try await publish("1")
    while room.hub.receivedCount < 1 { await Task.yield() }

    try await setKey("second-key", of: room.hub)
    try write(key: "second-key")
    try await publish("2")
    try await running.wrote("the hub's key has changed")
    while room.hub.receivedCount < 2 { await Task.yield() }

    try await setKey("third-key", of: room.hub)
    try await publish("3")
    try await running.wrote("sending halted")
    try write(key: "third-key")
    running.signal(SIGHUP)
    #expect(try await running.wrote("settings reloaded").contains("hub.connectionString"))
    while room.hub.receivedCount < 3 { await Task.yield() }
    running.terminate()
    #expect(try await running.ended().status == 0)
    #expect(!running.errors.contains("-key\""), "no key reaches the log")
    #expect(try await room.run("results", "--json").output.split(separator: "\n").count == 3)
    await room.close()
}

@Test func `changed certificate files are noticed at a reload, because librdkafka does not read them again`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "key-\(UUID().uuidString).pem")
    defer { try? FileManager.default.removeItem(at: file) }
    func files(_ properties: [String: String]) -> CertificateFiles {
        CertificateFiles(KafkaSettings(bootstrapServers: [], group: "g", properties: properties))
    }
    let properties = ["ssl.key.location": file.path, "ssl.key.password": "x", "ssl.ca.location": "/nowhere"]
    try "one".write(to: file, atomically: true, encoding: .utf8)
    let before = files(properties)
    #expect(before.changes(to: files(properties)).isEmpty)
    try "two".write(to: file, atomically: true, encoding: .utf8)
    #expect(before.changes(to: files(properties)) == ["ssl.key.location"])
    #expect(before.changes(to: files(["ssl.ca.location": "/nowhere"])).isEmpty)
}
