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

    /// The six categories with tags for one language.
    private func offer(_ language: NewsLanguage) throws -> [NewsCategory] {
        try NewsCategory.standard.map { category in
            NewsCategory(
                name: category.name, tag: try Tag("\(category.tag.text)_\(language.code)"), baseTag: category.tag)
        }
    }

    @Test func `choices survive a change of language where languages have tags`() throws {
        let store = MemoryStore()
        let (english, french) = (NewsLanguage.standard[0], NewsLanguage.standard[1])
        let before = CategoryStore(store, offer: try offer(english))
        try before.choose([before.offer[0], before.offer[5]])
        try InterestStore(store).follow(try NewsInterest("team:bvb", pattern: "team_{id}_en"))

        let after = CategoryStore(store, offer: try offer(french))
        let interests = InterestStore(store)
        let subscription = Subscription(
            channel: .apple(deviceToken: "AB"), categories: after.chosen,
            interests: interests.followed { "\($0)_{id}_\(french.code)" }, language: french)
        #expect(subscription.tags.map(\.text) == ["Sports_fr", "team_bvb_fr", "World_fr"])
        // A choice that is withdrawn in one language is withdrawn in all.
        try after.choose([after.offer[5]])
        #expect(before.chosen.map(\.tag.text) == ["Sports_en"])
        let same = try NewsInterest("team:bvb", pattern: "team_{id}_fr")
        #expect(interests.isFollowed(same))
        try interests.follow(same)
        #expect(interests.followed.map(\.tag.text) == ["team_bvb_fr"])
        try interests.unfollow(same)
        #expect(interests.followed.isEmpty)
    }

    @Test func `choices kept before there were base tags are found, and kept under base tags when chosen again`()
        throws
    {
        let store = MemoryStore()
        try CategoryStore(store, offer: [NewsCategory("World_fr"), NewsCategory("Sports_fr")])
            .choose([NewsCategory("World_fr")])
        let (english, french) = (NewsLanguage.standard[0], NewsLanguage.standard[1])
        let choices = CategoryStore(store, offer: try offer(french))
        #expect(choices.chosen.map(\.tag.text) == ["World_fr"])
        try choices.choose(choices.chosen)
        let inEnglish = CategoryStore(store, offer: try offer(english))
        #expect(inEnglish.chosen.map(\.tag.text) == ["World_en"])
        try choices.choose([])
        #expect(choices.chosen.isEmpty && inEnglish.chosen.isEmpty)
    }

    @Test func `an interest of which the present pattern makes no tag is left out`() throws {
        let interests = InterestStore(MemoryStore())
        try interests.follow(try NewsInterest("team:bvb"))
        try interests.follow(try NewsInterest("author:4711"))
        #expect(interests.followed { $0 == "team" ? "no tag {id}" : nil }.map(\.tag.text) == ["author_4711"])
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
