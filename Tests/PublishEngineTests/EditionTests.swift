import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Testing

/// Languages with tags: each one is sent separately.
struct EditionTests {
    private static let languages = LocalizationTests.three.languages

    private func rules(
        _ mode: Localization.Mode, fallback: [String] = ["en"], templates: PayloadSettings.TemplateNames? = nil,
        testTag: String? = nil
    ) throws -> ContentRules {
        let localization = Localization(mode: mode, languages: Self.languages, fallback: fallback)
        return try ContentRules(
            payload: PayloadSettings(templates: templates, localization: localization),
            policy: ContentPolicy(testTag: testTag))
    }

    private func shell(_ mode: Localization.Mode = .tags, change: (inout EngineSettings) -> Void = { _ in }) throws
        -> TestShell
    {
        var shell = try TestShell(
            change: change, localization: Localization(mode: mode, languages: Self.languages, fallback: ["en"]))
        _ = shell.assign()
        return shell
    }

    @Test(
        arguments: [
            (Localization.Mode.tags, "fr", "World_fr"), (.tags, "fr-CA", "World_fr"), (.tags, "FR", "World_fr"),
            (.tags, nil, "World_en"), (.expression, "fr", "World && language_fr"),
            (.expression, nil, "World && language_en"), (.properties, "fr", "World"), (.properties, "de", "World"),
        ] as [(Localization.Mode, String?, String)])
    func `an event goes to the readers of its language`(mode: Localization.Mode, language: String?, tags: String)
        throws
    {
        let event = NewsEvent(id: "1", headline: "h", categories: ["World"], language: language)
        guard case .tagged(let routing) = try rules(mode).router.route(event) else {
            Issue.record("unroutable")
            return
        }
        #expect(routing.expression == tags)
        #expect(routing.categories == ["World"])
    }

    @Test(arguments: [(Localization.Mode.tags, "$UserId:{anna}"), (.expression, "$UserId:{anna} && language_fr")])
    func `news for single readers stays with them, and has a language like any other`(
        mode: Localization.Mode, tags: String
    ) throws {
        var event = NewsEvent(id: "1", headline: "h", categories: ["World"], language: "fr", users: ["anna"])
        guard case .tagged(let routing) = try rules(mode).router.route(event) else {
            Issue.record("unroutable")
            return
        }
        #expect(routing.expression == tags)
        #expect(routing.edition == "fr")
        #expect(routing.users.count == 1 && routing.tags.isEmpty)

        // A replacement without a language reaches the reader in any.
        event.language = nil
        guard case .tagged(let everybody) = try rules(mode).router.route(event, isForEverybody: true) else {
            Issue.record("unroutable")
            return
        }
        #expect(everybody.expression == "$UserId:{anna}")
        (event.isTest, event.language) = (true, "fr")
        guard case .tagged(let rehearsal) = try rules(mode, testTag: "staff").router.route(event) else {
            Issue.record("unroutable")
            return
        }
        #expect(rehearsal.tags == ["staff"] && !rehearsal.expression.contains("anna"))
    }

    @Test func `templates, testers and several categories go together with a language`() throws {
        let event = NewsEvent(id: "1", headline: "h", categories: ["World", "Sports"], language: "fr", isTest: true)
        guard
            case .tagged(let routing) = try rules(.expression, templates: .standard, testTag: "staff").router.route(
                event)
        else {
            Issue.record("unroutable")
            return
        }
        #expect(routing.expression == "staff && (World || Sports) && language_fr && breakingNews")
    }

    @Test(arguments: [("de", ["en"]), ("?", ["en"]), (nil, [])] as [(String?, [String])])
    func `an event in a language that nobody reads is a dead letter with its reason`(
        language: String?, fallback: [String]
    ) throws {
        let event = NewsEvent(id: "1", headline: "h", categories: ["World"], language: language)
        guard case .unroutable(let failure) = try rules(.tags, fallback: fallback).router.route(event) else {
            Issue.record("routed")
            return
        }
        #expect(failure.code == "unknown-language")
    }

    @Test func `version 2 in French does not supersede version 1 in English`() throws {
        var shell = try shell { $0.connections = 1 }
        let first = shell.publish(
            news("x", category: "Sports", #","language":"en""#),
            news("e1", story: "s", version: 1, #","language":"en""#),
            news("f2", story: "s", version: 2, #","language":"fr""#),
            news("e2", story: "s", version: 2, #","language":"en""#))
        // Within one language it supersedes.
        #expect(first.endings.map { "\($0.result.eventID ?? "") \($0.result.outcome)" } == ["e1 superseded"])
        let second = shell.reply(201, to: first.sends[0])
        let third = shell.reply(201, to: second.sends[0])
        #expect((second.sends + third.sends).map(\.request.tags) == ["World_fr", "World_en"])
        _ = shell.reply(201, to: third.sends[0])
        #expect(shell.publish(news("e0", story: "s", version: 1, #","language":"en""#)).outcomes == [.superseded])
        #expect(shell.publish(news("z1", story: "s", version: 1, #","language":"zh""#)).sends.count == 1)
    }

    @Test func `translations with one id are no duplicates of each other`() throws {
        var shell = try shell()
        let sent = shell.publish(
            news("a", version: 1, #","language":"en""#), news("a", version: 1, #","language":"fr""#))
        #expect(sent.sends.count == 2)
        let ended = shell.reply(201, to: sent.sends[0])
        #expect(ended.results.map(\.version) == ["en:1"])
        #expect(shell.publish(news("a", version: 1, #","language":"en""#)).outcomes == [.duplicate])
    }

    @Test func `a recall of the story reaches every language, in the queue and later`() throws {
        var shell = try shell { $0.connections = 1 }
        let sent = shell.publish(
            news("x"), news("e1", story: "s", version: 1, #","language":"en""#),
            news("f1", story: "s", version: 1, #","language":"fr""#))
        #expect(sent.sends.count == 1)
        let recalled = shell.take(.orders([.recall("s")]))
        #expect(recalled.outcomes == [.canceled, .canceled])
        #expect(recalled.applied.map(\.waiting) == [2])
        #expect(shell.reply(201, to: sent.sends[0]).sends.isEmpty)
        #expect(shell.publish(news("z1", story: "s", #","language":"zh""#)).outcomes == [.canceled])
    }

    @Test func `a held event of one language is ended by a recall, not by another language`() throws {
        var shell = try shell { $0.holdsBeyond = .seconds(60) }
        let due = shell.wall + .seconds(3_600)
        let held = shell.publish(
            news("e1", story: "s", version: 1, #","language":"en","embargoUntil":"\#(due)""#))
        #expect(held.holds.map(\.event.story) == ["s#en"])
        _ = shell.store(held)
        let other = shell.publish(news("f2", story: "s", version: 2, #","language":"fr""#))
        #expect(other.sends.count == 1 && other.returns.isEmpty)
        #expect(shell.take(.orders([.recall("s")])).returns == ["s#en recalled"])
    }

    @Test func `a recall counts the held events of all languages`() throws {
        var shell = try shell { $0.holdsBeyond = .seconds(60) }
        let keys = ["s#en", "s#fr", "s#france", "t#en"]
        _ = shell.take(.held(keys.map { HeldStory(story: $0, isHeld: true) }))
        let recalled = shell.take(.orders([.recall("s", "O1"), .recall("u", "O2")]))
        #expect(recalled.applied.map(\.held) == [2, 0])
        #expect(recalled.returns.sorted() == ["s#en recalled", "s#fr recalled"])
    }

    @Test(arguments: [#","language":"fr""#, ""])
    func `a withheld event without a known category ends the waiting ones of its language`(language: String) throws {
        var shell = try shell { $0.holdsBeyond = nil }
        let due = shell.wall + .seconds(3_600)
        for code in ["en", "fr"] {
            _ = shell.publish(
                news("\(code)1", story: "s", version: 1, #","language":"\#(code)","embargoUntil":"\#(due)""#))
        }
        let withheld = shell.publish(
            news("k", story: "s", version: 2, status: "withheld", category: "Nowhere", language))
        #expect(withheld.results.map(\.result.eventID) == [language.isEmpty ? "en1" : "fr1", "k"])
        #expect(withheld.outcomes == [.superseded, .withheld])
        #expect(shell.wait(.seconds(3_601)).sends.count == 1)
    }

    @Test func `after a restart an old version of a language does not follow a newer one`() throws {
        var shell = try shell()
        let newer = shell.publish(news("f2", story: "s", version: 2, #","language":"fr""#))
        let accepted = try #require(shell.reply(201, to: newer.sends[0]).results.first)
        #expect(accepted.ledgerStory == "s#fr" && accepted.version == "fr:2")
        let entry = LedgerEntry(
            offset: 0, source: .init(partition: TestShell.source, offset: 0), platform: .template, outcome: .accepted,
            identity: RecordIdentity(eventID: "f2"), eventID: "f2", version: accepted.version,
            story: accepted.ledgerStory, isOpen: false)
        for (language, outcomes) in [("fr", [Outcome.superseded]), ("en", [])] {
            var next = try self.shell { $0.holdsBeyond = .seconds(60) }
            _ = next.assign(generation: Generation(2), ledger: [entry], end: 1)
            let older = next.publish(
                news("o1", story: "s", version: 1, #","language":"\#(language)""#), generation: Generation(2))
            #expect(older.outcomes == outcomes)
        }
    }

    @Test func `a held event of a recalled story is taken back when it is read from the topic`() throws {
        var shell = try shell { $0.holdsBeyond = .seconds(60) }
        _ = shell.take(.orders([.recall("s")]))
        #expect(shell.take(.held([HeldStory(story: "s#fr", isHeld: true)])).returns == ["s#fr recalled"])
        #expect(shell.take(.held([HeldStory(story: "t#fr", isHeld: true)])).returns.isEmpty)
    }

    @Test func `the replacement of a recalled story goes to readers of all languages`() throws {
        var shell = try shell()
        let header = RecordHeader(HeaderName.replacement, "O1")
        _ = shell.take(.orders([.recall("s")]))
        let sent = shell.publish(news("r", story: "s"), headers: [header])
        #expect(sent.sends.map(\.request.tags) == ["World_en || World_fr || World_zh"])
    }

    @Test func `a recall finds what was queued before the languages changed`() throws {
        var shell = try shell { $0.connections = 1 }
        let sent = shell.publish(news("x"), news("f1", story: "s", #","language":"fr""#))
        let rules = try ContentRules(payload: PayloadSettings())
        _ = shell.take(.reload(Reload(rate: nil, rules: rules, floodGuard: .init())))
        #expect(shell.take(.orders([.recall("s")])).outcomes == [.canceled])
        _ = sent
    }

    @Test func `the result of one send for all languages says which were filled`() throws {
        var shell = try shell(.properties)
        let sent = shell.publish(
            news("a", #","language":"en","headlines":{"fr":"F"}"#), news("b", #","language":"en""#), news("c"))
        let results = sent.sends.flatMap { shell.reply(201, to: $0).results.map(\.result) }
        #expect(results.map(\.filled) == [["zh"], ["fr", "zh"], ["en", "fr", "zh"]])
        // An event that was never sent has no filled languages.
        let refused = shell.publish(news("d", category: "Nowhere"))
        #expect(refused.deadLetters.map(\.result.filled) == [[]])
    }
}
