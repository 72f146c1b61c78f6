import CRdkafka
import Foundation
import HTTPCalls
import KafkaModel
import NewsModel
import Synchronization
import TestSupport
import Testing

@testable import KafkaIO

@Suite(.ownThread)
struct TokenSourceTests {
    private func endpoint(_ server: ScriptedPublisher, roots: String? = nil) -> TokenSource {
        TokenSource(
            .endpoint(
                .init(
                    url: server.url("/token"), clientID: "news wire", secret: "ca:nary", scope: "api://kafka/.default",
                    trustRoots: roots)))
    }

    private func failure(_ source: TokenSource) -> String {
        do throws(KafkaFailure) {
            return "\(try source.token())"
        } catch {
            #expect(error.isAboutToken && !"\(error)".contains("nary"), "\(error)")
            return error.detail.replacing("No token for Kafka: ", with: "")
        }
    }

    @Test func `a program's login is a POST with its id and secret in the header`() async throws {
        let server = try await ScriptedPublisher.start { _ in
            .status(200, body: Array(#"{"access_token": "abc", "expires_in": 60}"#.utf8))
        }
        #expect(try endpoint(server).token().lifetime == .seconds(60))
        let request = try #require(server.requests.first)
        #expect(request.method == "POST")
        #expect(request.body == "grant_type=client_credentials&scope=api%3A%2F%2Fkafka%2F.default")
        let login = Data("news%20wire:ca%3Anary".utf8).base64EncodedString()
        #expect(request.headers["authorization"] == "Basic \(login)")
        #expect(request.headers["content-type"] == "application/x-www-form-urlencoded")
        await server.stop()
    }

    @Test func `a redirect is not followed, because another address would get the secret`() async throws {
        for status in [301, 302, 307, 308] {
            let server = try await ScriptedPublisher.start { _ in .redirect(status, to: "/elsewhere") }
            #expect(failure(endpoint(server)).hasPrefix("the token endpoint redirects to another address"))
            #expect(server.requests.map(\.path) == ["/token"])
            await server.stop()
        }
    }

    @Test func `an answer without end, a refusal that repeats the secret and a closed port are reported`() async throws
    {
        let server = try await ScriptedPublisher.start { request in
            switch request.earlier {
            case 0: .endless(head: "HTTP/1.1 200 OK\r\n\r\n", piece: Array(repeating: 0x20, count: 65_536))
            case 1: .status(401, body: Array(#"{"error": "ca:nary"}"#.utf8))
            default: .close
            }
        }
        let source = endpoint(server)
        #expect(failure(source) == "the token endpoint does not answer: its answer has more than 262144 bytes")
        #expect(failure(source) == "the token endpoint refuses kafka.oauth.clientId or kafka.oauth.clientSecret")
        #expect(failure(source) == "the token endpoint does not answer: the connection was closed")
        await server.stop()
        #expect(failure(source) == "the token endpoint does not answer: connection refused")
    }

    @Test func `a server that does not answer in time is given up`() async throws {
        let server = try await ScriptedPublisher.start { _ in .silence }
        var call = HTTPCall(url: server.url("/token"))
        call.timeout = .milliseconds(20)
        let failure = #expect(throws: HTTPCall.Failure.self) { try call.answer(bytesMax: 10) }
        #expect(failure?.detail == "it took too long")
        await server.stop()
    }

    @Test func `only the authorities of trustRoots are trusted, and their file is read each time`() async throws {
        let server = try await ScriptedPublisher.start(certificate: TestCertificates.localhost) { _ in
            .status(200, body: Array(#"{"access_token": "abc"}"#.utf8))
        }
        let file = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID().uuidString).pem")
        defer { try? FileManager.default.removeItem(at: file) }
        let source = endpoint(server, roots: file.path)
        #expect(failure(source).hasSuffix("the file \(file.path) has no certificates"))
        try TestCertificates.authority.write(to: file, atomically: true, encoding: .utf8)
        #expect(failure(source) == "token")
        #expect(failure(endpoint(server)).hasSuffix("its certificate is not trusted, or TLS failed"))
        await server.stop()
    }

    @Test func `a token file is read again each time, without the newline at its end`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "token-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let source = TokenSource(.file(file.path))
        #expect(failure(source) == "the file \(file.path) cannot be read")
        for text in ["one", "two"] {
            try "\(text)\n".write(to: file, atomically: true, encoding: .utf8)
            #expect(try source.token().text == text)
        }
        try "ca\nnary".write(to: file, atomically: true, encoding: .utf8)
        #expect(failure(source).hasSuffix("the text has characters that no token has, or is empty"))
        try String(repeating: "a", count: 300_000).write(to: file, atomically: true, encoding: .utf8)
        #expect(failure(source) == "token", "only as much as a token may have is read")
    }
}

struct KafkaLoginTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "login-\(UUID().uuidString)")

    private func settings(_ login: KafkaLogin, _ properties: [String: String] = [:]) -> KafkaSettings {
        var settings = KafkaSettings(
            bootstrapServers: ["127.0.0.1:1"], group: "g",
            properties: ["security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "OAUTHBEARER"].merging(properties) {
                $1
            })
        settings.login = login
        return settings
    }

    /// A client with its errors, which no thread reads.
    private func client(_ settings: KafkaSettings) throws(KafkaFailure) -> RdClient {
        let configuration = try RdConfiguration(settings: settings, fixed: [])
        configuration.setEvents(RD_KAFKA_EVENT_ERROR)
        return try configuration.makeClient(RD_KAFKA_PRODUCER)
    }

    private func write(_ token: String) throws { try token.write(to: file, atomically: true, encoding: .utf8) }

    @Test func `no client is made without a token, which is reported at once`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let login = KafkaLogin(TokenSource(.file(file.path)), startsThread: false)
        let failure = #expect(throws: KafkaFailure.self) { try client(settings(login)) }
        #expect(
            failure?.isAboutToken == true && failure?.detail.contains("the file \(file.path) cannot be read") == true)
        #expect(login.notReady?.code == "kafka-token" && login.clientCount == 0)
        try write("abc")
        let made = try client(settings(login))
        #expect(login.notReady == nil && login.clientCount == 1 && made.worstError()?.isAboutToken != true)
    }

    @Test func `a failed renewal does not disturb clients that have a valid token`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try write("abc")
        let login = KafkaLogin(TokenSource(.file(file.path)), startsThread: false)
        let client = try client(settings(login))
        let begin = ServiceClock.boot
        let seconds = Mutex(0)
        let clock: () -> Instant = { begin + .seconds(seconds.withLock { $0 }) }
        #expect(login.renew(now: clock).map { $0 > .seconds(239) && $0 <= .seconds(240) } == true)
        try FileManager.default.removeItem(at: file)
        seconds.withLock { $0 = 241 }
        #expect(login.renew(now: clock) == .seconds(1))
        // It may also report that it cannot connect.
        #expect(client.worstError()?.isAboutToken != true && login.problem == nil)
        seconds.withLock { $0 = 302 }
        #expect(login.renew(now: clock) == .seconds(2))
        #expect(client.worstError()?.isAboutToken == true && login.problem != nil)
    }

    @Test func `the renewal ends with the last client`() throws {
        try write("abc")
        defer { try? FileManager.default.removeItem(at: file) }
        let login = KafkaLogin(TokenSource(.file(file.path)), startsThread: false)
        var made: RdClient? = try client(settings(login))
        #expect(login.renew() != nil)
        #expect(made?.handle != nil)
        made = nil
        #expect(login.renew() == nil)
    }

    @Test func `another source of tokens is used at once`() throws {
        let other = TokenSource(.file(file.path + "-new"))
        defer { try? FileManager.default.removeItem(atPath: file.path + "-new") }
        try write("abc")
        let login = KafkaLogin(TokenSource(.file(file.path)), startsThread: false)
        let client = try client(settings(login))
        try FileManager.default.moveItem(atPath: file.path, toPath: file.path + "-new")
        login.change(to: settings(KafkaLogin(other)))
        #expect(login.renew().map { $0 > .seconds(200) } == true)
        #expect(login.problem == nil && login.source == other)
        withExtendedLifetime(client) {}
    }

    @Test func `an extension that librdkafka refuses is reported without the token`() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        try write("canary")
        let login = KafkaLogin(TokenSource(.file(file.path), extensions: ["auth": "x"]), startsThread: false)
        let client = try client(settings(login))
        let error = try #require(client.worstError())
        #expect(error.isAboutToken && error.detail.contains("kafka.oauth.extensions") && !"\(error)".contains("canary"))
    }

    @Test func `clients that are made after a change log in with the new password`() throws {
        let login = KafkaLogin()
        let properties = ["sasl.mechanisms": "PLAIN", "sasl.username": "u", "sasl.password": "old"]
        let earlier = try client(settings(login, properties))
        #expect(login.credentials == nil)
        login.change(to: settings(KafkaLogin(), properties.merging(["sasl.password": "new"]) { $1 }))
        #expect(login.credentials == .init(user: "u", password: "new"))
        let later = try client(settings(login, properties))
        #expect(login.clientCount == 2)
        withExtendedLifetime((earlier, later)) {}
    }
}
