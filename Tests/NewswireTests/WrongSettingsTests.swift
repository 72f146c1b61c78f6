import Foundation
import HubServer
import NotificationHub
import Testing

// Settings that a command refuses.

@Test func `check reports five mistakes with their lines and ends with 78`() async throws {
    let room = try await ProgramRoom()
    try room.write(
        """
        kafka: {bootstrapServers: ["broker"]}
        lanes: {live: {topics: [news.events], maxage: 15m}}
        hub: {connectionString: "${NO_SUCH_VARIABLE}", name: x}
        rate: {perSecond: -5}
        unroutable: Worlds
        """, to: "newswire.yaml")
    let ended = try await room.run("check", "--offline")
    #expect(ended.status == 78)
    let lines = ended.errors.split(separator: "\n").map { $0.replacing(room.path("newswire.yaml"), with: "") }
    #expect(
        lines.map { $0.split(separator: ":").first.map(String.init) ?? "" } == [
            "1", "2", "3", "4", "5", "5 problems in ",
        ])
    await room.close()
}

@Test(arguments: [["publish", "--lane", "live", "--confirm", "1", "e.ndjson"], ["redrive"], ["results"]])
func `settings that the Kafka client refuses are a wrong configuration`(command: [String]) async throws {
    let room = try await ProgramRoom()
    try room.write("{\"id\":\"a\",\"headline\":\"h\"}\n", to: "e.ndjson")
    try room.write(
        """
        kafka: {bootstrapServers: "127.0.0.1:1", properties: {security.protocol: SSL, ssl.ca.location: /nowhere}}
        lanes: {live: {topics: [news.events]}}
        hub: {connectionString: "Endpoint=sb://127.0.0.1:1/;SharedAccessKeyName=send;SharedAccessKey=x", name: x}
        """, to: "newswire.yaml")
    let arguments = command.map { $0 == "e.ndjson" ? room.path($0) : $0 }
    let ended = try await Program.run(arguments + ["--config", room.path("newswire.yaml")])
    #expect(ended.status == 78, "\(ended.errors)")
    #expect(ended.errors.contains("Kafka client refused: ssl.ca.location failed"), "\(ended.errors)")
    await room.close()
}

@Test(arguments: ["check", "run"])
func `an example without real secrets is refused with the names of its settings`(command: String)
    async throws
{
    let room = try await ProgramRoom()
    try room.write(
        "Endpoint=sb://REPLACE.servicebus.windows.net/;SharedAccessKeyName=send;SharedAccessKey=REPLACE\n", to: "hub")
    try room.write(
        """
        kafka: {bootstrapServers: "${BROKERS}", properties: {sasl.password: changeme}}
        lanes: {live: {topics: [news.events]}}
        hub: {connectionString: "${file:hub}", name: x, trustRoots: hub}
        http: {listen: off, token: <token>}
        """, to: "newswire.yaml")
    let ended = try await room.run(command)
    #expect(ended.status == 78)
    for name in ["kafka.properties.sasl.password", "hub.connectionString", "http.token"] {
        #expect(
            ended.errors.contains(": error: \(name): still holds the placeholder of an example; "), "\(ended.errors)")
    }
    #expect(ended.errors.contains(": error: hub.trustRoots: no certificates can be read from hub: it "))
    #expect(ended.errors.contains("4 problems in "))
    await room.close()
}

@Test func `byte order marks in settings and secret files are ignored`() async throws {
    let room = try await ProgramRoom()
    let mark = "\u{FEFF}"
    try room.write(mark + room.hub.connectionString.revealed + "\r\n", to: "hub")
    try room.write(
        """
        \(mark)kafka: {bootstrapServers: "${BROKERS}"}
        lanes: {live: {topics: [news.events]}}
        hub: {connectionString: "${file:hub}", name: breaking-news}
        """, to: "newswire.yaml")
    let ended = try await room.run("check")
    #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
    await room.close()
}

@Test func `check reports properties of Kafka that do not fit each other`() async throws {
    let room = try await ProgramRoom()
    try room.write(
        """
        kafka: {bootstrapServers: "${BROKERS}", properties: {message.timeout.ms: 1}}
        lanes: {live: {topics: [news.events]}}
        hub: {connectionString: "\(room.hub.connectionString.revealed)", name: breaking-news}
        """, to: "newswire.yaml")
    let ended = try await room.run("check")
    #expect(ended.status == 1)
    #expect(ended.output.contains("fail  broker    Kafka client refused: `message.timeout.ms` must be greater than"))
    await room.close()
}
