import BreakingNews
import Foundation
import HubEmulator
import HubServer
import NotificationHub
import Testing

struct LanguageTests {
    @Test(arguments: [
        (["fr-CA", "en"], "French"), (["FR_ca"], "French"), (["zh-Hant-TW", "fr"], "Mandarin"),
        (["de", "fr"], "French"),
        (["de"], "English"), ([], "English"), (["f"], "English"),
    ])
    func `the system's languages apply until the reader chooses one`(preferred: [String], name: String) {
        #expect(LanguageStore(MemoryStore(), preferred: preferred).language?.name == name)
    }

    @Test func `the reader's choice survives a restart, and can be withdrawn`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "language-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        let languages = LanguageStore(FileStore(file), preferred: ["en"])
        #expect(languages.choice == nil)
        try languages.choose(NewsLanguage.standard[1])
        let again = LanguageStore(FileStore(file), preferred: ["en"])
        #expect(again.language?.code == "fr" && again.choice?.property == "News_French")
        // The newsroom stops offering French for a while.
        let fewer = LanguageStore(FileStore(file), offer: [NewsLanguage.standard[0]], preferred: ["fr"])
        #expect(fewer.language?.code == "en" && fewer.choice == nil)
        try again.choose(nil)
        #expect(again.language?.code == "en" && again.choice == nil)
    }

    @Test(arguments: [("fr", "Français"), ("fr", "a b"), ("", "French"), ("fr", ""), ("fr", "x\"")])
    func `a language whose property no template can name is refused`(code: String, name: String) {
        #expect(throws: NewsLanguageProblem.self) { try NewsLanguage(code: code, name: name) }
    }

    @Test(arguments: PushChannel.everyKind)
    func `readers of three languages receive three texts from one send`(channel: PushChannel) async throws {
        try await withHub { hub in
            var handles: [String] = []
            for (number, language) in NewsLanguage.standard.enumerated() {
                let own = channel.numbered(number)
                handles.append(own.handle)
                let registrar = try Device().registrar(hub)
                await registrar.want(Subscription(channel: own, tags: [try Tag("World")], language: language))
                await registrar.settle()
            }
            let watched = try #require(hub.deliveries(to: Set(handles)))
            #expect(try await hub.send(Self.news, to: "World && breakingNews") == 201)
            var texts: [String: String] = [:]
            for await delivery in watched.prefix(3) {
                let body = String(decoding: delivery.body, as: UTF8.self)
                texts[delivery.handle] = ["Hello", "Bonjour", "你好", "Breaking"].filter(body.contains).joined()
            }
            #expect(handles.map { texts[$0] } == ["Hello", "Bonjour", "你好"])
        }
    }

    @Test(arguments: [RegistrationForm.installation, .registrations(native: false)])
    func `a change of language leaves one registration of each template, in the new language`(
        form: RegistrationForm
    ) async throws {
        try await withHub { hub in
            let channel = PushChannel.fcmv1(registrationToken: "one")
            let registrar = try Device().registrar(hub, form: form)
            var counts: Set<Int> = []
            for language in NewsLanguage.standard + [nil, NewsLanguage.standard[1]] {
                await registrar.want(Subscription(channel: channel, tags: [try Tag("World")], language: language))
                guard case .registered = await registrar.settle() else {
                    Issue.record("\(await registrar.state)")
                    return
                }
                counts.insert(hub.registrationCount)
            }
            // An installation has a native registration too.
            #expect(counts == [form == .installation ? 3 : 2])
            let watched = try #require(hub.deliveries(to: [channel.handle]))
            for template in ["breakingNews", "breakingNewsQuiet"] {
                #expect(try await hub.send(Self.news, to: "World && \(template)") == 201)
            }
            var bodies: [String] = []
            for await delivery in watched.prefix(2) { bodies.append(String(decoding: delivery.body, as: UTF8.self)) }
            #expect(bodies.allSatisfy { $0.contains("Bonjour") })
            #expect(hub.delivered.count == 2)
        }
    }

    private static let news =
        #"{"messageParam":"Breaking","tag":"t","News_English":"Hello","News_French":"Bonjour","News_Mandarin":"你好"}"#
}

extension PushChannel {
    /// The same kind of channel for another device.
    fileprivate func numbered(_ number: Int) -> PushChannel {
        switch self {
        case .apple: .apple(deviceToken: "0A1B2C0\(number)")
        case .fcmv1: .fcmv1(registrationToken: "fcm:\(number)")
        case .windows: .windows(channelURI: "https://wns.example/?token=\(number)")
        case .browser: .browser(endpoint: "https://push.example/send/\(number)", p256dh: "B-key", auth: "secret")
        }
    }
}
