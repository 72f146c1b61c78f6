import Foundation
import HubServer
import NewsModel
import NotificationHub
import Testing

@Test(arguments: [
    (["demo", "--port", "x"], 64), (["demo", "--port", "70000"], 64), (["chek"], 64),
    (["demo", "--listen", "127.0.0.1:1", "--port", "1"], 64), (["hub", "--write-certificate", "x"], 64),
    (["runs", "r", "--config", "x", "--verify", "--afresh"], 64),
    (["check", "--config", "/no/such/file"], 78), (["publish", "--config", "x"], 64),
    (["publish", "--config", "x", "--rate", "0", "-"], 64), (["publish", "--config", "x", "--max-bad", "-1", "-"], 64),
    (["publish", "--config", "x", "-", "-"], 64), (["publish", "--config", "x", "--format", "xml", "-"], 64),
    (["results", "--config", "x", "--outcome", "acepted"], 64),
    (["results", "--config", "x", "--since", "yesterday"], 64), (["results", "--config", "x", "--tail", "-1"], 64),
    (["results", "--config", "/no/such/file", "--since", "2026-11-23"], 78),
    (["results", "--config", "/no/such/file", "--since", "1w"], 78),
    (["redrive", "--config", "x", "--since", "1h", "--until", "2h"], 64),
    (["redrive", "--config", "x", "--since", "2026-01-02T00:00:00Z", "--until", "2026-01-01T00:00:00Z"], 64),
    (["redrive", "--config", "x", "--until", "soon"], 64), (["send", "--config", "x", "--category", "World"], 64),
    (["send", "--config", "x", "--category", "World", "--message", " "], 64),
    (["send", "--config", "x", "--category", "World", "--message", "m", "--platform", "aple"], 64),
    (["hub", "--listen", "8090"], 64), (["hub", "--connection-string", "nonsense"], 64),
    (["hub", "--name", "a/b"], 64), (["hub", "--devices", "-1"], 64),
    (["hub", "--devices", "5", "--store", "f"], 64), (["hub", "--tier", "gold"], 64),
    (["hub", "--sends-per-minute", "0"], 64), (["hub", "--sends-per-minute", "many"], 64),
    (["hub", "--installation-lag", "11m"], 64), (["hub", "--installation-lag", "2"], 64),
    (["hub", "--clock-skew", "2h"], 64), (["hub", "--api-era", "2031"], 64),
    (["topics", "--config", "x", "--partitions", "0"], 64), (["run", "--config", "x", "--log-level", "loud"], 64),
    (["--help"], 0), (["--version"], 0), (["demo", "--help"], 0), (["publish", "--help"], 0),
])
func `a wrong call ends with the documented exit code`(arguments: [String], status: Int) async throws {
    let ended = try await Program.run(arguments)
    #expect(ended.status == Int32(status), "\(ended.errors)")
    #expect((status == 0 ? ended.output : ended.errors).isEmpty == false)
}

@Test(arguments: [
    (["runn"], "Error: 'runn' is not a command. Did you mean run? Known: demo, init, run, check"),
    (["results", "--tail", "-3"], "Error: --tail must be 0 to "),
])
func `a wrong call is answered with what was wrong`(arguments: [String], beginning: String) async throws {
    let ended = try await Program.run(arguments)
    #expect(ended.status == 64 && ended.errors.hasPrefix(beginning), "\(ended.errors)")
}

@Test func `check contacts broker, topics and hub, and reports what is missing`() async throws {
    let room = try await ProgramRoom()
    let sound = try await room.run("check")
    #expect(sound.status == 0, "\(sound.output)\(sound.errors)")
    let lines = sound.output.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("ok  ") } == 6)
    #expect(lines.count { $0.hasPrefix("note  recall    the text of recall --replace rings on phones: ") } == 1)
    // The topics of orders do not exist.
    #expect(
        lines.filter { $0.hasPrefix("warn  topic") }.map { $0.split(separator: " ")[2] } == [
            "news.control", "news.audit", "news.held",
        ])
    let missing = try await Program.run(
        ["check", "--config", room.path("newswire.yaml")],
        environment: room.environment.merging(
            [
                "NEWSWIRE_RESULTS_TOPIC": "nowhere",
                "NEWSWIRE_HUB_CONNECTION_STRING":
                    "Endpoint=http://127.0.0.1:\(room.hub.port)/;SharedAccessKeyName=DefaultFullSharedAccessSignature;SharedAccessKey=wrong",
            ]) { $1 })
    #expect(missing.status == 1)
    #expect(
        missing.output.contains(
            "fail  topic     nowhere (results) does not exist, or this user may not see it; create it: "))
    #expect(missing.output.contains("the hub does not accept the key"))
    #expect(!(missing.output + missing.errors).contains("wrong"))
    await room.close()
}

@Test func `check finds an address for status pages that cannot be opened`() async throws {
    let room = try await ProgramRoom()
    let taken = "127.0.0.1:\(room.hub.port)"
    for (listen, status, line) in [
        ("127.0.0.1:0", 0, "ok    listen    127.0.0.1:0 can be opened"),
        (taken, 0, "warn  listen    \(taken) is in use by another process; if that is not newswire, stop that process"),
        ("nohost.invalid:9464", 1, "fail  listen    cannot listen on nohost.invalid:9464: there is no such host; use "),
        (
            "192.0.2.1:9464", 1,
            "fail  listen    cannot listen on 192.0.2.1:9464: this machine does not have the address"
        ),
    ] as [(String, Int32, String)] {
        let ended = try await Program.run(
            ["check", "--config", room.path("newswire.yaml")],
            environment: room.environment.merging(["NEWSWIRE_HTTP_LISTEN": listen]) { $1 })
        #expect(ended.status == status)
        #expect(ended.output.contains(line), "\(ended.output)")
    }
    let ended = try await Program.run(
        ["check", "--offline", "--config", room.path("newswire.yaml")],
        environment: room.environment.merging(["NEWSWIRE_HTTP_LISTEN": "999.1.1.1:9464"]) { $1 })
    #expect(ended.status == 78)
    #expect(ended.errors.contains("http.listen: the value is not understood"), "\(ended.errors)")
    await room.close()
}

@Test func `events go from a file to the hub and come back as results, once`() async throws {
    let room = try await ProgramRoom()
    try room.write(
        """
        id,headline,categories,data.page
        1,"A ""quoted"" headline, with a comma",World;Sports,4
        2,Second,Nowhere,
        3,Third,business,
        4,,World,
        """, to: "events.csv")
    let published = try await room.run("publish", "--max-bad", "1", room.path("events.csv"))
    #expect(published.status == 0, "\(published.errors)")
    #expect(published.output.hasPrefix("published 3 events to news.events"))
    #expect(published.errors.contains("events.csv:5: headline is missing or blank"))
    #expect(!FileManager.default.fileExists(atPath: room.path("events.csv.newswire-progress")))

    for _ in 1...2 {
        let ran = try await room.run("run", "--until-caught-up", "--log-level", "info")
        #expect(ran.status == 0, "\(ran.errors)")
        let key = try #require(room.hub.connectionString.revealed.split(separator: "SharedAccessKey=").last)
        #expect(!ran.errors.contains(key))
        for line in ran.errors.split(separator: "\n") {
            #expect(throws: Never.self) { try JSONSerialization.jsonObject(with: Data(line.utf8)) }
        }
        #expect(room.hub.receivedCount == 2)
    }

    let results = try await room.run("results", "--json")
    let records = try results.output.split(separator: "\n").map { try ResultRecord(decoding: Array($0.utf8)) }
    #expect(
        Set(records.map { "\($0.eventID ?? "") \($0.outcome.rawValue)" }) == [
            "1 accepted", "2 unroutable", "3 accepted",
        ])
    #expect(records.count == 3)
    let table = try await room.run("results", "--outcome", "unroutable")
    #expect(table.output.split(separator: "\n").count == 2)
    #expect(table.output.contains("unknown-category"))
    let limited = try await room.run("results", "--limit", "1", "--json")
    #expect(limited.output.split(separator: "\n").count == 1)
    await room.close()
}

@Test func `standard input is published, and --strict stops at the first bad line`() async throws {
    let room = try await ProgramRoom()
    let lines = "{\"id\":\"1\",\"headline\":\"h\"}\n{\n{\"id\":\"2\",\"headline\":\"h\"}\n"
    let lax = try await room.run("publish", "--max-bad", "1", "-", input: lines)
    #expect(lax.status == 0)
    #expect(lax.output.contains("published 2 events"))
    #expect(lax.output.contains("skipped 1 bad line"))
    let strict = try await room.run("publish", "--strict", "-", input: lines)
    #expect(strict.status == 1)
    #expect(strict.errors.contains("error: standard input:2: "))
    let nothing = try await room.run("publish", "-", input: "\"3\",\"no header\"\n")
    #expect(nothing.status == 1)
    await room.close()
}

@Test func `publish refuses a missing topic, so that no broker creates it`() async throws {
    let room = try await ProgramRoom(topics: [("other", 1)])
    let ended = try await room.run("publish", "-", input: "{}")
    #expect(ended.status == 1)
    #expect(ended.errors.contains("Topic news.events does not exist"))
    await room.close()
}

@Test func `send needs no control topic, and its dry run sends nothing and shows no signature`() async throws {
    let room = try await ProgramRoom()
    let dry = try await room.run(
        "send", "--category", "world", "--message", "Ünï \"x\"", "--platform", "apple", "--platform", "windows",
        "--dry-run")
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(room.hub.receivedCount == 0)
    #expect(
        dry.output.split(separator: "\n").filter {
            $0.hasPrefix("POST /breaking-news/messages?api-version=2020-06 HTTP/1.1")
        }.count == 2)
    #expect(dry.output.contains("ServiceBusNotification-Tags: World"))
    #expect(dry.output.contains("&sig=***&"))
    let sent = try await room.run("send", "--category", "World", "--message", "Now")
    #expect(sent.status == 0, "\(sent.output)")
    #expect(sent.errors.hasPrefix("warning: this notification is not recorded. Topic news.audit does not exist"))
    #expect(room.hub.receivedCount == 1)
    let both = try await room.run(
        "send", "--category", "sports", "--category", "World", "--message", "Now", "--dry-run")
    #expect(both.output.contains("ServiceBusNotification-Tags: World || Sports\n"), "\(both.output)\(both.errors)")
    for categories in [["Nowhere"], ["World", "Nowhere"]] {
        let options = categories.flatMap { ["--category", $0] }
        let unknown = try await Program.run(
            ["send", "--config", room.path("newswire.yaml"), "--message", "Now"] + options,
            environment: room.environment)
        #expect(unknown.status == 64)
        #expect(unknown.errors.contains("World, Politics, Business, Technology, Science, Sports"))
    }
    #expect(room.hub.receivedCount == 1)
    await room.close()
}

@Test func `send writes the headline in several languages, and says which were filled`() async throws {
    let room = try await ProgramRoom()
    let settings = try String(contentsOfFile: room.path("newswire.yaml"), encoding: .utf8)
    try room.write(
        settings + "\nlocalization: {languages: {en: English, fr: French, zh: Mandarin}, fallback: [en]}\n",
        to: "newswire.yaml")
    let dry = try await room.run(
        "send", "--category", "World", "--message", "Hello", "--language", "en", "--headline", "fr=Bonjour = salut",
        "--dry-run")
    #expect(dry.status == 0, "\(dry.errors)")
    #expect(dry.output.contains(#""News_English":"Hello","News_French":"Bonjour = salut","News_Mandarin":"Hello""#))
    #expect(dry.errors.contains("filled from the fallback: zh"))
    #expect(!dry.errors.contains("warning"))
    let unread = try await room.run(
        "send", "--category", "World", "--message", "Hello", "--headline", "de=Hallo", "--headline", "fr-CA=Allo",
        "--dry-run")
    #expect(unread.errors.contains("warning: nobody gets the text in de:"), "\(unread.errors)")
    for wrong in ["Bonjour", "f r=Bonjour", "fr= "] {
        let ended = try await room.run("send", "--category", "World", "--message", "Hello", "--headline", wrong)
        #expect(ended.status == 64, "\(wrong): \(ended.errors)")
    }
    #expect(room.hub.receivedCount == 0)
    await room.close()
}

@Test func `topics shows existing and missing topics`() async throws {
    let room = try await ProgramRoom(topics: [("news.events", 4), ("news.results", 2)])
    let ended = try await room.run("topics")
    #expect(ended.status == 1)
    let rows = ended.output.split(separator: "\n")
    #expect(rows.count == 7)
    #expect(rows[1].hasSuffix("4  ok"))
    #expect(rows[2].contains("has 2 partitions, but news.events has 4"))
    #expect(rows[3...].allSatisfy { $0.contains("does not exist, or this user may not see it") })
    await room.close()
}

@Test func `the demo settles every sample and ends with 0`() async throws {
    let ended = try await Program.run(["demo", "--once", "--port", "0"])
    #expect(ended.status == 0, "\(ended.output)\(ended.errors)")
    #expect(ended.output.contains("accepted      18"))
    #expect(ended.errors.isEmpty, "\(ended.errors)")
}

@Test func `the demo ends with 1 when an event was not accepted`() async throws {
    let room = try await ProgramRoom()
    try room.write("{\"id\":\"1\",\"headline\":\"h\",\"category\":\"Nowhere\"}\n", to: "events.ndjson")
    let ended = try await Program.run(["demo", "--once", "--port", "0", "--events", room.path("events.ndjson")])
    #expect(ended.status == 1)
    #expect(ended.output.contains("unroutable       1"))
    await room.close()
}

@Test func `the demo says that a file has no events, and ends with 1`() async throws {
    let ended = try await Program.run(["demo", "--once", "--port", "0", "--events", "/dev/null"])
    #expect(ended.status == 1)
    #expect(ended.errors == "error: /dev/null has no events to show\n")
    #expect(!ended.output.contains("the first takes"))
}

@Test func `the demo ends at the first signal even if its events have no end`() async throws {
    let room = try await ProgramRoom()
    let path = room.path("pipe")
    #expect(mkfifo(path, 0o600) == 0)
    let writer = try #require(FileHandle(forUpdatingAtPath: path))
    let demo = try Program.start(["demo", "--port", "0", "--events", path])
    _ = try await demo.printed("  broker  ")
    demo.signal(SIGINT)
    let ended = try await demo.ended()
    #expect(ended.status == 0 && ended.errors.contains("interrupted with 0 events"), "\(ended.errors)")
    try writer.close()
    await room.close()
}

@Test func `a single item is counted in the singular`() async throws {
    let room = try await ProgramRoom(topics: [("news.events", 1), ("news.results", 1), ("news.dead-letters", 1)])
    let published = try await room.run("publish", "-", input: #"{"id":"1","headline":"h"}"#)
    #expect(published.output.hasPrefix("published 1 event to news.events in "))
    #expect(!published.output.contains("/s"))
    let checked = try await room.run("check")
    #expect(checked.output.contains("news.events (lane live) has 1 partition\n"))
    try room.write("lanes: {live: {topics: [news.events]}}\nrate: 5\n", to: "newswire.yaml")
    let wrong = try await Program.run(
        ["check", "--offline", "--config", room.path("newswire.yaml")],
        environment: [
            "NEWSWIRE_KAFKA_BOOTSTRAP_SERVERS": "a:1", "NEWSWIRE_HUB_NAME": "x",
            "NEWSWIRE_HUB_CONNECTION_STRING": "Endpoint=http://h/;SharedAccessKeyName=n;SharedAccessKey=k",
        ])
    #expect(wrong.errors.contains("\n1 problem in "))
    await room.close()
}

@Test(arguments: ["bash", "zsh", "fish"])
func `the completion script of a shell offers commands and options`(shell: String) async throws {
    let ended = try await Program.run(["--generate-completion-script", shell])
    #expect(ended.status == 0)
    #expect(ended.output.contains("redrive") && ended.output.contains("until-caught-up"))
}

@Test(arguments: [
    "demo", "run", "check", "topics", "publish", "results", "redrive", "send", "hub", "device", "simulate",
])
func `the help of a command has examples that fit the terminal and use its options`(command: String) async throws {
    let help = try await Program.run([command, "--help"]).output
    let text = help.components(separatedBy: "USAGE:")
    let options = try #require(text.last)
    let lines = try #require(text.first).components(separatedBy: "\n")
    let examples = lines.indices.filter { lines[$0].contains("newswire \(command)") && lines[$0].hasPrefix("  ") }
    #expect(!examples.isEmpty)
    for index in examples {
        for option in lines[index].split(separator: " ") where option.hasPrefix("--") {
            #expect(options.contains("  \(option)"), "\(lines[index])")
        }
        // A line that is too long continues at the left margin.
        #expect(lines[index + 1].isEmpty || lines[index + 1].hasPrefix("  "), "\(lines[index])")
    }
}

@Test func `check --json has an object for each problem, with its line`() async throws {
    let room = try await ProgramRoom()
    try room.write("rate: {perSecond: -5}\n", to: "newswire.yaml")
    let ended = try await room.run("check", "--offline", "--json")
    #expect(ended.status == 78)
    let wanted = #"{"severity":"fail","subject":"settings","line":1,"key":"rate.perSecond","message":"#
    #expect(ended.output.contains(wanted), "\(ended.output)")
    await room.close()
}
