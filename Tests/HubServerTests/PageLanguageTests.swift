import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

/// Makes the page's calls without a browser: its phones register with the hub's values.
struct PageLanguageTests {
    private func phones(_ hub: RunningHub) async throws -> (token: String, phones: [JSONTree]) {
        let reply = try await RawClient.call(hub.port, "GET", "/_emulator/phone")
        let session = try #require(JSONTree(parsing: reply.body))
        guard case .array(let phones)? = session["phones"], case .array(let languages)? = session["languages"] else {
            throw HubServerProblem.settings(["no phones"])
        }
        #expect(languages.map { $0["code"]?.string } == ["en", "fr", "zh"])
        return (try #require(session["token"]?.string), phones)
    }

    private func register(
        _ phone: JSONTree, in language: String, _ hub: RunningHub, token: String
    ) async throws {
        guard case .object(let members)? = phone["installation"] else {
            throw HubServerProblem.settings(["no installation"])
        }
        let templates = try #require(phone["templates"]?[language])
        let own: [JSONTree.Member] = [
            .init("tags", .array([.string("World"), .string("language_\(language)")])), .init("templates", templates),
        ]
        let kept = members.filter { member in !own.contains { $0.name == member.name } }
        let id = try #require(phone["installation"]?["installationId"]?.string)
        let reply = try await RawClient.call(
            hub.port, "PUT", "/BreakingNews/installations/\(id)?api-version=2020-06",
            headers: [("Authorization", token), ("Content-Type", "application/json")],
            body: String(decoding: JSONTree.object(kept + own).bytes, as: UTF8.self))
        #expect(reply.status == 200, "\(reply.text)")
    }

    private func write(_ story: String, _ hub: RunningHub) async throws {
        let reply = try await RawClient.call(hub.port, "POST", "/_emulator/stories", body: story)
        #expect(reply.status == 202, "\(reply.text)")
    }

    @Test func `readers of three languages receive three texts from one send, or the fallback for a missing one`()
        async throws
    {
        try await withVectorHub { hub in
            let (token, phones) = try await phones(hub)
            let readers = ["apple": "en", "fcmv1": "fr", "browser": "zh"]
            var languages: [String: String] = [:]
            for phone in phones {
                guard let language = phone["platform"]?.string.flatMap({ readers[$0] }) else { continue }
                try await register(phone, in: language, hub, token: token)
                languages[try #require(phone["handle"]?.string)] = language
            }
            let watched = try #require(hub.deliveries(to: Set(languages.keys)))
            try await write(
                #"{"category":"World","headline":"Hello","language":"en","headlines":{"fr":"Bonjour","zh":"你好"}}"#, hub)
            try await write(
                #"{"category":"World","headline":"Bye","language":"en","headlines":{"fr":"Au revoir","xx":"?"}}"#, hub)
            var texts: [String: [String]] = [:]
            for await delivery in watched.prefix(6) {
                let body = String(decoding: delivery.body, as: UTF8.self)
                let shown = ["Hello", "Bonjour", "你好", "Bye", "Au revoir"].filter(body.contains).joined(separator: "+")
                texts[languages[delivery.handle] ?? "", default: []].append(shown)
            }
            #expect(texts == ["en": ["Hello", "Bye"], "fr": ["Bonjour", "Au revoir"], "zh": ["你好", "Bye"]])
            #expect(hub.receivedCount == 2)
        }
    }

    @Test func `a phone that changes its language has one registration of each template`() async throws {
        try await withVectorHub { hub in
            let (token, phones) = try await phones(hub)
            let phone = try #require(phones.first)
            try await register(phone, in: "en", hub, token: token)
            let count = hub.registrationCount
            for language in ["fr", "zh", "fr"] { try await register(phone, in: language, hub, token: token) }
            #expect(hub.registrationCount == count)
            let handle = try #require(phone["handle"]?.string)
            let watched = try #require(hub.deliveries(to: [handle]))
            try await write(#"{"category":"World","headline":"Hello","headlines":{"fr":"Bonjour"}}"#, hub)
            for await delivery in watched.prefix(1) {
                #expect(String(decoding: delivery.body, as: UTF8.self).contains("Bonjour"))
            }
            #expect(hub.delivered.count == 1)
        }
    }
}
