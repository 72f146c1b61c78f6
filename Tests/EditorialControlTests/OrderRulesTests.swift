import EditorialControl
import NewsModel
import Testing

struct OrderRulesTests {
    private let rules = OrderRules(
        lanes: ["live", "backfill"], categories: ["World", "Sports"], aliases: ["sport": "Sports"],
        kinds: ["team"])

    private func order(
        _ scope: ControlScope, lifts: Bool = false, by: String = "desk", reason: String? = "r",
        replacement: String? = nil
    ) -> Instruction {
        Instruction(
            id: "1", scope: scope, lifts: lifts, at: Instant(milliseconds: 0), by: by, reason: reason,
            replacement: replacement)
    }

    private func problem(of instruction: Instruction) -> OrderProblem? {
        do throws(OrderProblem) { _ = try rules.checked(instruction) } catch { return error }
        return nil
    }

    @Test func `lanes and categories must exist to be stopped, but not to be resumed`() throws {
        #expect(try rules.checked(order(.stop(.category("sPORTS")))).scope == .stop(.category("Sports")))
        #expect(try rules.checked(order(.stop(.category("sport")))).scope == .stop(.category("Sports")))
        #expect(
            problem(of: order(.stop(.category("Nope"))))
                == .unknown("Nope", kind: "a category", known: ["World", "Sports"]))
        #expect(
            problem(of: order(.stop(.lane("Live")))) == .unknown("Live", kind: "a lane", known: ["live", "backfill"]))
        #expect(problem(of: order(.stop(.category("Nope")), lifts: true)) == nil)
        #expect(problem(of: order(.stop(.lane("nope")), lifts: true)) == nil)
    }

    /// It may have another spelling or name in the configuration than when it was stopped.
    @Test(arguments: [
        ("World", "WORLD", "World"), ("WORLD", "world", "WORLD"), ("Sport", "sport", "Sport"),
        ("Sports", "sport", "Sports"),
        ("Gone", "gone", "Gone"), ("sport", "Sports", "sport"),
    ])
    func `a stopped category is found by any of its names`(stopped: String, named: String, found: String) throws {
        var orders = StandingOrders()
        orders.apply(
            .stands(Order(id: "1", scope: .stop(.category(stopped)), at: Instant(milliseconds: 0), by: "desk")))
        let lift = try rules.checked(order(.stop(.category(named)), lifts: true))
        #expect(lift.target(among: orders)?.scope == .stop(.category(found)))
    }

    @Test func `the kind of an interest must exist to be stopped, and its case does not matter`() throws {
        #expect(try rules.checked(order(.stop(.interest("Team:BVB")))).scope == .stop(.interest("team:bvb")))
        for name in ["player:9", "team", "bvb"] {
            #expect(
                problem(of: order(.stop(.interest(name)))) == .unknown(name, kind: "an interest", known: ["team:ID"]))
            #expect(problem(of: order(.stop(.interest(name)), lifts: true)) == nil)
        }
        var orders = StandingOrders()
        orders.apply(
            .stands(Order(id: "1", scope: .stop(.interest("Team:bvb")), at: Instant(milliseconds: 0), by: "desk")))
        let lift = try rules.checked(order(.stop(.interest("TEAM:BVB")), lifts: true))
        #expect(lift.target(among: orders)?.id == "1")
    }

    @Test(arguments: [Gate.hub, .lane("live"), .feed("any"), .run("any")])
    func `a stop of an unknown feed or run is accepted`(gate: Gate) throws {
        #expect(try rules.checked(order(.stop(gate))).scope == .stop(gate))
    }

    @Test(arguments: [
        "\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{202E}", "\u{3164}", "\u{7}",
    ])
    func `a name with an invisible character is refused, because it looks like another one`(hidden: String) {
        #expect(problem(of: order(.stop(.hub), by: "an\(hidden)na")) == .invisible(.by))
        #expect(problem(of: order(.stop(.hub), by: "Zoë Müller 梅田 (dashboard, ::1)")) == nil)
    }

    @Test(arguments: ["\u{639}\u{644}\u{6CC}\u{200C}\u{631}\u{636}\u{627}", "\u{915}\u{94D}\u{200D}\u{937}"])
    func `a name in a script that is written with joiners is no invisible one`(name: String) {
        #expect(problem(of: order(.stop(.hub), by: name)) == nil)
        #expect(problem(of: order(.stop(.hub), by: "\(name)\u{200C}")) == .invisible(.by))
    }

    @Test func `blank texts and texts beyond the limits are refused`() {
        let long = String(repeating: "ß", count: 257)
        #expect(problem(of: order(.recall(story: " \n"))) == .blank(.story))
        #expect(problem(of: order(.recall(story: long))) == .tooLong(.story, bytesMax: 512))
        #expect(problem(of: order(.stop(.feed(long)))) == .tooLong(.name, bytesMax: 512))
        #expect(problem(of: order(.stop(.hub), reason: "\t")) == .blank(.reason))
        #expect(problem(of: order(.stop(.hub), reason: long)) == .tooLong(.reason, bytesMax: 512))
        #expect(problem(of: order(.stop(.hub), by: " ")) == .blank(.by))
        #expect(problem(of: order(.stop(.hub), by: long)) == .tooLong(.by, bytesMax: 256))
        #expect(problem(of: order(.recall(story: "s"), replacement: " ")) == .blank(.replacement))
        #expect(problem(of: order(.recall(story: String(long.dropLast())))) == nil)
    }

    @Test func `a recall and a stop of the hub need a reason, their ends do not`() {
        for scope in [ControlScope.recall(story: "s"), .stop(.hub)] {
            #expect(problem(of: order(scope, reason: nil)) == .needsReason)
            #expect(problem(of: order(scope, lifts: true, reason: nil)) == nil)
        }
        #expect(problem(of: order(.stop(.lane("live")), reason: nil)) == nil)
    }
}
