import EditorialControl
import Foundation
import HubEmulator
import HubServer
import KafkaIO
import TestSupport
import Testing

/// Reports of the commands about frozen processes, and about sent and unsent news.
struct ControlTruthTests {
    private func room() async throws -> ProgramRoom {
        try await ProgramRoom(
            topics: [
                ("news.events", 2), ("news.results", 2), ("news.dead-letters", 2), ("news.control", 1),
                ("news.audit", 1), ("news.held", 2),
            ])
    }

    private func publish(_ events: String..., to room: ProgramRoom, runs: Bool = true) async throws {
        #expect(try await room.run("publish", "-", input: events.joined(separator: "\n")).status == 0)
        if runs { #expect(try await room.run("run", "--until-caught-up").status == 0) }
    }

    private func event(_ id: String, story: String) -> String {
        #"{"id":"\#(id)","story":"\#(story)","headline":"h","category":"World"}"#
    }

    @Test func `a frozen process is listed as missing until it applies the order`() async throws {
        let room = try await room()
        let running = try room.start("run")
        try await running.wrote("partitions assigned")
        let frozen = try room.start("run")
        try await frozen.wrote("partitions assigned")
        frozen.signal(SIGSTOP)
        let stopped = try await room.run("stop", "hub", "--reason", "r", "--json")
        #expect(stopped.status == 1, "\(stopped.output)")
        #expect(stopped.output.contains(#""processes":2,"applied":1,"#), "\(stopped.output)")
        let listed = try await room.run("control", "--list")
        #expect(
            listed.output.hasSuffix("1 order stands; only 1 of 2 processes confirmed all of them\n"), "\(listed.output)"
        )
        let json = try await room.run("control", "--list", "--json").output
        #expect(json.contains(/"unconfirmed":\["[^"]+"\]}/), "\(json)")
        frozen.signal(SIGCONT)
        while try await !room.run("control", "--json").output.contains(#""unconfirmed":[]"#) {}
        #expect(try await room.run("control").output.hasSuffix("1 order stands; 2 processes obey\n"))
        for process in [running, frozen] {
            process.terminate()
            #expect(try await process.ended().status == 0)
        }
        await room.close()
    }

    @Test func `an order that no process confirms is in force, but the command fails`() async throws {
        let room = try await room()
        for arguments in [["stop", "lane:live"], ["resume", "lane:live"]] {
            let ended = try await Program.run(
                arguments + ["--config", room.path("newswire.yaml")], environment: room.environment)
            #expect(ended.status == 1)
            #expect(ended.output.contains("no process has confirmed; the order is "), "\(ended.output)")
        }
        await room.close()
    }

    @Test func `a stop of a run counts the events of it that are held`() async throws {
        let room = try await room()
        try await publish(
            #"{"id":"later","headline":"h","category":"World","embargoUntil":"2100-01-01T00:00:00Z"}"#, to: room)
        let held = try await room.run("held", "--json").output
        let run = try #require(held.firstMatch(of: /"run":"([^"]+)"/)?.output.1, "\(held)")
        let stopped = try await room.run("stop", "run:\(run)")
        #expect(stopped.output.contains("1 event of it is held, and does not leave"), "\(stopped.output)")
        let other = try await room.run("stop", "run:other", "--json")
        #expect(other.output.contains(#""heldEvents":0"#), "\(other.output)")
        await room.close()
    }

    // MARK: Names

    @Test func `a recall of an event's id recalls its story, and shows the accepted events`() async throws {
        let room = try await room()
        try await publish(event("e-1", story: "quake"), to: room)
        let recalled = try await room.run("recall", "e-1", "--reason", "r", "--json")
        #expect(recalled.output.hasPrefix(#"{"scope":"recall/story/quake""#), "\(recalled.output)\(recalled.errors)")
        #expect(
            recalled.output.contains(#""found":"event","accepted":[{"eventId":"e-1","at":"20"#), "\(recalled.output)")
        #expect(recalled.output.contains(#""categories":["World"]}]"#))
        #expect(recalled.output.contains(#""doubts":{"inFlight":0,"unanswered":0,"silent":0,"unheard":true,"#))
        let again = try await room.run("recall", "quake", "--reason", "r")
        #expect(again.output.contains(/\nalready accepted: e-1, 20[0-9: -]+ UTC, for World\n/), "\(again.output)")
        let lifted = try await room.run("recall", "e-1", "--lift")
        #expect(lifted.output.hasPrefix("lifted the recall of quake: "), "\(lifted.output)\(lifted.errors)")
        #expect(lifted.errors.hasPrefix("e-1 is an event of the story quake: the order is about that\n"))
        #expect(try await room.run("results").output.contains("  quake  "))
        #expect(try await room.run("results", "--story", "quake", "--json").output.contains(#""story":"quake""#))
        #expect(try await room.run("results", "--story", "e-1", "--json").output == "")
        await room.close()
    }

    @Test func `an unseen name is refused with similar names, unless --unseen is given`() async throws {
        let room = try await room()
        try await publish(event("quake-2026", story: "quake"), to: room)
        let wrong = try await room.run("recall", "quake-2062", "--reason", "r")
        #expect(wrong.status == 1 && wrong.output == "")
        #expect(wrong.errors.contains("error: nothing was recalled: quake-2062 was not seen"))
        #expect(wrong.errors.contains("Similar: quake-2026. --unseen recalls it all the same."), "\(wrong.errors)")
        #expect(try await room.run("control", "--json").output == "")
        let meant = try await room.run("recall", "quake-2062", "--reason", "r", "--unseen", "--json")
        #expect(meant.output.contains(#""found":"unseen","accepted":[]"#), "\(meant.output)")
        await room.close()
    }

    @Test func `an event that no process has read yet can be recalled by its id`() async throws {
        let room = try await room()
        try await publish(event("e-1", story: "quake"), to: room, runs: false)
        let recalled = try await room.run("recall", "e-1", "--reason", "r", "--json")
        #expect(recalled.output.hasPrefix(#"{"scope":"recall/story/quake""#), "\(recalled.output)\(recalled.errors)")
        await room.close()
    }

    // MARK: Sends by hand

    @Test func `send refuses while the hub or its category is stopped, unless --despite-stop is given`()
        async throws
    {
        let room = try await room()
        let command = ["send", "--config", room.path("newswire.yaml"), "--category", "World", "--message", "All clear"]
        func send(_ more: String...) async throws -> Program.Ended {
            try await Program.run(command + more, environment: room.environment)
        }
        _ = try await room.run("stop", "hub", "--reason", "wrong alert", "--by", "desk")
        let refused = try await send()
        #expect(refused.status == 1 && room.hub.receivedCount == 0)
        #expect(refused.errors.contains(/error: not sent: the hub was stopped by desk, 20[0-9: -]+ UTC: wrong alert\n/))
        #expect(refused.errors.contains("--despite-stop sends it all the same"))
        let forced = try await send("--despite-stop", "--by", "m", "--reason", "urgent")
        #expect(forced.status == 0 && room.hub.receivedCount == 1, "\(forced.errors)")
        let audit = try await room.run("audit", "--json").output
        #expect(
            audit.contains(#""do":"send","by":"m","reason":"urgent","text":"All clear","despite":["stop/hub"]"#),
            "\(audit)")
        #expect(audit.split(separator: "\n").count { $0.contains(#""do":"send""#) } == 1)
        #expect(try await room.run("audit").output.contains("“All clear”; despite stop/hub"))
        let results = try await room.run("results", "--json").output
        #expect(results.contains(#""outcome":"accepted""#) && results.contains(#""lane":"send""#), "\(results)")
        #expect(results.contains(#""source":{"topic":"news.audit","partition":0,"#))
        _ = try await room.run("resume", "hub")
        _ = try await room.run("stop", "category:world")
        #expect(try await send().status == 1)
        _ = try await room.run("resume", "category:world")
        _ = try await room.run("stop", "category:Sports")
        #expect(try await send().status == 0)
        // Results of sends do not disturb processes that read them as a ledger.
        try await publish(event("e-1", story: "quake"), to: room)
        #expect(room.hub.receivedCount == 3)
        await room.close()
    }

    @Test func `a stop of a category that was renamed holds for send, and ends by the new name`() async throws {
        let room = try await room()
        _ = try await room.run("stop", "category:World")
        let settings = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
        try room.write(settings + "\ncategories: {Global: {tag: G, names: [World]}}\n", to: "newswire.yaml")
        for name in ["Global", "World"] {
            let refused = try await room.run("send", "--category", name, "--message", "m")
            #expect(refused.status == 1, "\(refused.output)")
            #expect(refused.errors.contains("not sent: category World was stopped"), "\(refused.errors)")
        }
        #expect(room.hub.receivedCount == 0)
        let resumed = try await room.run("resume", "category:Global")
        #expect(resumed.output.hasPrefix("resumed category World"), "\(resumed.output)\(resumed.errors)")
        #expect(try await room.run("send", "--category", "Global", "--message", "m").status == 0)
        await room.close()
    }

    @Test func `a notification that was sent by hand can be replaced on the phones`() async throws {
        let room = try await room()
        let sent = try await room.run("send", "--category", "World", "--message", "Wrong")
        #expect(sent.status == 0, "\(sent.errors)")
        let results = try await room.run("results", "--json").output
        let id = try #require(results.firstMatch(of: /"eventId":"(send-[^"]+)"/)?.output.1)
        let recalled = try await room.run(
            "recall", String(id), "--reason", "r", "--replace", "Withdrawn", "--json")
        #expect(recalled.output.contains(#""replaced":["World"]"#), "\(recalled.output)\(recalled.errors)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 2)
        #expect(try await room.run("audit").output.contains("replacement “Withdrawn”"))
        await room.close()
    }

    @Test func `a send that is recalled while it is on its way says so, as its result does`() async throws {
        let room = try await room()
        var fault = HubFault()
        fault.latencyMilliseconds = 8_000
        room.hub.add(fault)
        let sending = try room.start("send", "--category", "World", "--message", "Wrong")
        var id: Substring?
        while id == nil {
            id = try await room.run("audit", "--json").output.firstMatch(of: /"scope":"send\/(send-[^"]+)"/)?.output.1
        }
        let recalled = try await room.run("recall", String(try #require(id)), "--reason", "r", "--by", "desk")
        #expect(recalled.output.contains("more may have been accepted"), "\(recalled.output)\(recalled.errors)")
        let sent = try await sending.ended()
        #expect(sent.status == 0 && sent.output.contains("accepted"), "\(sent.output)")
        #expect(
            sent.errors.contains(/warning: send-.* was recalled by desk, .*: r, while it was on its way/),
            "\(sent.errors)")
        #expect(try await room.run("results", "--json").output.contains(#""afterRecall":true"#))
        await room.close()
    }

    /// Starts a send to two platforms, of which the hub answers the first one late.
    ///
    /// - Returns: the running command and the id of its event, once the audit topic has it.
    private func sendSlowly(_ room: ProgramRoom) async throws -> (Program.Running, id: String) {
        var fault = HubFault()
        fault.latencyMilliseconds = 5_000
        room.hub.add(fault)
        let sending = try room.start(
            "send", "--category", "World", "--message", "Wrong", "--platform", "apple", "--platform", "fcmv1")
        while true {
            let audit = try await room.run("audit", "--json").output
            if let id = audit.firstMatch(of: /"scope":"send\/(send-[^"]+)"/)?.output.1 { return (sending, String(id)) }
        }
    }

    @Test func `lifting a recall names the send that it has ended between two platforms`() async throws {
        let room = try await room()
        let (sending, id) = try await sendSlowly(room)
        _ = try await room.run("recall", id, "--reason", "r")
        #expect(try await sending.ended().status == 1)
        let results = try await room.run("results", "--json").output
        #expect(results.contains(#""code":"recalled""#), "\(results)")
        let lifted = try await room.run("recall", id, "--lift")
        #expect(
            lifted.errors.contains(
                "the recall has ended newswire send before all platforms had its notification: \(id)"),
            "\(lifted.errors)")
        #expect(!lifted.errors.contains("--republish"), "\(lifted.errors)")
        let again = try await room.run("recall", id, "--lift", "--republish", "--json")
        #expect(again.status == 1 && again.output.contains(#""endedSends":["\#(id)"]"#), "\(again.output)")
        await room.close()
    }

    @Test func `a recall and its end name a send that was killed before its outcome was known`() async throws {
        let room = try await room()
        let (sending, id) = try await sendSlowly(room)
        sending.signal(SIGKILL)
        _ = try await sending.ended()
        let line = "may have been accepted, newswire send has not recorded all outcomes: \(id)\n"
        // Nothing else names it, because it has no result.
        let recalled = try await room.run("recall", id, "--reason", "r", "--unseen")
        #expect(recalled.output.contains(line), "\(recalled.output)")
        let lifted = try await room.run("recall", id, "--lift")
        #expect(lifted.errors.contains(line), "\(lifted.errors)")
        await room.close()
    }

    @Test func `from another environment nothing is sent, also with --despite-stop, and nothing is ordered`()
        async throws
    {
        let room = try await room()
        let production = HubEnvironment(name: "production", host: "h", hub: "n")
        let publisher = try RecordPublisher(settings: room.broker.settings(group: "test"))
        try publisher.publish(ControlRecord.environment(production).record(on: "news.control"))
        try publisher.flush()
        let send = ["send", "--category", "World", "--message", "m", "--config", room.path("newswire.yaml")]
        for more in [[], ["--despite-stop"]] {
            let refused = try await Program.run(
                send + more, environment: room.environment.merging(["NEWSWIRE_ENVIRONMENT": "staging"]) { $1 })
            #expect(refused.status == 1 && room.hub.receivedCount == 0)
            #expect(refused.errors.hasPrefix("error: not sent: the settings say staging"), "\(refused.errors)")
        }
        for order in [["stop", "hub"], ["resume", "hub"], ["recall", "s", "--unseen"]] {
            let refused = try await Program.run(
                order + ["--reason", "r", "--config", room.path("newswire.yaml")],
                environment: room.environment.merging(["NEWSWIRE_ENVIRONMENT": "staging"]) { $1 })
            #expect(refused.status == 1)
            #expect(refused.errors.contains("nothing was ordered: the settings are of the environment staging"))
        }
        await room.close()
    }

    @Test func `send without Kafka is refused unless --despite-stop is given`() async throws {
        let room = try await room()
        room.broker.setDown()
        let refused = try await room.run("send", "--category", "World", "--message", "m")
        #expect(refused.status == 1 && room.hub.receivedCount == 0)
        #expect(refused.errors.hasPrefix("error: not sent: the standing orders cannot be read"), "\(refused.errors)")
        let forced = try await room.run("send", "--category", "World", "--message", "m", "--despite-stop")
        #expect(forced.status == 0 && room.hub.receivedCount == 1, "\(forced.errors)")
        #expect(forced.errors.hasPrefix("warning: this notification is not recorded."))
        await room.close()
    }

    // MARK: The end of a recall

    @Test func `lifting a recall names the events that it ended, and sends them on request`() async throws {
        let room = try await room()
        _ = try await room.run("recall", "quake", "--reason", "r", "--unseen")
        try await publish(event("e-1", story: "quake"), event("e-2", story: "other"), to: room)
        #expect(room.hub.receivedCount == 1)
        let lifted = try await room.run("recall", "quake", "--lift")
        #expect(
            lifted.errors.contains("the recall has ended 1 event, and lifting it does not bring it back: e-1\n"),
            "\(lifted.errors)")
        #expect(lifted.errors.contains("to send them: newswire recall --config FILE 'quake' --lift --republish"))
        let again = try await room.run("recall", "quake", "--lift", "--republish", "--json")
        #expect(again.status == 0, "\(again.errors)")
        let fields = #""ended":["e-1"],"republished":["e-1"],"lost":[],"overtaken":[]"#
        #expect(again.output.contains(fields), "\(again.output)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 2)
        let rest = try await room.run("recall", "quake", "--lift", "--republish", "--json")
        #expect(rest.output.contains(#""ended":[],"republished":[]"#), "\(rest.output)")
        await room.close()
    }

    @Test func `a recalled text is not put back behind later news of its story`() async throws {
        let room = try await room()
        _ = try await room.run("recall", "quake", "--reason", "r", "--unseen")
        try await publish(event("e-1", story: "quake"), to: room)
        _ = try await room.run("recall", "quake", "--lift")
        try await publish(event("e-2", story: "quake"), to: room)
        #expect(room.hub.receivedCount == 1)
        let again = try await room.run("recall", "quake", "--lift", "--republish")
        #expect(again.status == 1)
        #expect(
            again.errors.contains(
                "error: not put back: e-1. Later news of the story has left, waits, is held or is put back: e-2."),
            "\(again.errors)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 1)
        await room.close()
    }

    @Test func `a recalled text is not put back behind later news of its story that waits`() async throws {
        let room = try await room()
        _ = try await room.run("recall", "quake", "--reason", "r", "--unseen")
        try await publish(event("e-1", story: "quake"), to: room)
        _ = try await room.run("recall", "quake", "--lift")
        try await publish(event("e-2", story: "quake"), to: room, runs: false)
        let again = try await room.run("recall", "quake", "--lift", "--republish", "--json")
        #expect(again.status == 1)
        #expect(again.output.contains(#""republished":[],"lost":[],"overtaken":["e-1"]"#), "\(again.output)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 1)
        await room.close()
    }

    @Test func `of several recalled texts without versions, the newest alone is put back`() async throws {
        let room = try await room()
        _ = try await room.run("recall", "quake", "--reason", "r", "--unseen")
        try await publish(
            event("e-1", story: "quake"), event("e-2", story: "quake"), event("e-3", story: "quake"), to: room)
        let lifted = try await room.run("recall", "quake", "--lift", "--republish")
        #expect(lifted.status == 1)
        #expect(lifted.errors.contains("put on the lane again: e-3\n"), "\(lifted.errors)")
        #expect(
            lifted.errors.contains(
                "not put back: e-1, e-2. Later news of the story has left, waits, is held or is put back: e-3."),
            "\(lifted.errors)")
        #expect(try await room.run("run", "--until-caught-up").status == 0)
        #expect(room.hub.receivedCount == 1)
        await room.close()
    }

    @Test func `a replacement that a stop delays is reported as waiting`() async throws {
        let room = try await room()
        try await publish(event("e-1", story: "quake"), to: room)
        _ = try await room.run("stop", "hub", "--reason", "flood", "--by", "desk")
        let recalled = try await room.run("recall", "quake", "--reason", "r", "--replace", "Withdrawn")
        #expect(
            recalled.errors.contains(
                "the replacement for the readers of World waits on its lane: the hub was stopped by desk"),
            "\(recalled.errors)")
        #expect(!recalled.errors.contains("on its way"))
        await room.close()
    }
}
