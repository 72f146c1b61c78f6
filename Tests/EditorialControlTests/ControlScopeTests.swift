import EditorialControl
import Testing

@Suite struct ControlScopeTests {
    @Test(arguments: [
        ("recall/story/urn:a/b", ControlScope.recall(story: "urn:a/b")), ("stop/hub", .stop(.hub)),
        ("stop/lane/backfill", .stop(.lane("backfill"))), ("stop/category/World", .stop(.category("World"))),
        ("stop/feed/dpa", .stop(.feed("dpa"))), ("stop/run/2026-11", .stop(.run("2026-11"))),
    ])
    func `a scope is the key of its record`(key: String, scope: ControlScope) {
        #expect(ControlScope(key: key) == scope)
        #expect(scope.key == key)
    }

    @Test(arguments: ["", "recall/story/", "stop", "stop/", "stop/lane/", "stop/galaxy/x", "beat/a", "hub"])
    func `what is no scope is none`(key: String) {
        #expect(ControlScope(key: key) == nil)
    }

    @Test(arguments: [("hub", Gate.hub), ("lane:backfill", .lane("backfill")), ("run:a:b", .run("a:b"))])
    func `a gate has a word for the command line`(word: String, gate: Gate) {
        #expect(Gate(word: word) == gate)
        #expect(gate.word == word)
    }
}

struct GateNamesTests {
    private let names = GateNames(lanes: ["live", "backfill"], categories: ["World", "Sports"])

    @Test func `a gate is spelled as the configuration spells it`() throws {
        #expect(try names.known(.category("wORLD")) == .category("World"))
        for gate in [Gate.hub, .lane("live"), .feed("any"), .run("any")] { #expect(try names.known(gate) == gate) }
        #expect(names.spelled(.category("former")) == .category("former"))
    }

    @Test func `a lane or a category that the configuration does not have is refused with those that it has`() {
        func refusal(_ gate: Gate) -> String? {
            do throws(GateNames.Unknown) {
                _ = try names.known(gate)
                return nil
            } catch {
                return error.sentence
            }
        }
        #expect(
            refusal(.category("Nope")) == "'Nope' is not a category of the configuration. Known: World, Sports.")
        #expect(refusal(.lane("Live")) == "'Live' is not a lane of the configuration. Known: live, backfill.")
    }
}
