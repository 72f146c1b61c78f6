import EditorialControl
import Testing

@Suite struct ControlScopeTests {
    @Test(arguments: [
        ("recall/story/urn:a/b", ControlScope.recall(story: "urn:a/b")), ("stop/hub", .stop(.hub)),
        ("stop/lane/backfill", .stop(.lane("backfill"))), ("stop/category/World", .stop(.category("World"))),
        ("stop/interest/team:bvb", .stop(.interest("team:bvb"))), ("stop/feed/dpa", .stop(.feed("dpa"))),
        ("stop/run/2026-11", .stop(.run("2026-11"))),
    ])
    func `a scope is the key of its record`(key: String, scope: ControlScope) {
        #expect(ControlScope(key: key) == scope)
        #expect(scope.key == key)
    }

    @Test(arguments: ["", "recall/story/", "stop", "stop/", "stop/lane/", "stop/galaxy/x", "beat/a", "hub"])
    func `an unknown scope is rejected`(key: String) {
        #expect(ControlScope(key: key) == nil)
    }

    @Test(arguments: [
        ("hub", Gate.hub), ("lane:backfill", .lane("backfill")), ("run:a:b", .run("a:b")),
        ("interest:team:bvb", .interest("team:bvb")),
    ])
    func `a gate has a word for the command line`(word: String, gate: Gate) {
        #expect(Gate(word: word) == gate)
        #expect(gate.word == word)
    }
}
