import Feeds
import KafkaModel
import NewswireSettings
import Testing

private let twoLanes = """
    kafka: {bootstrapServers: ["127.0.0.1:9092"]}
    lanes:
      live: {topics: [news.events]}
      backfill: {topics: [news.backfill]}

    """

private func feeds(_ items: String) -> LoadedSettings {
    LoadedSettings(twoLanes + "ingest:\n  feeds:\n" + items, leavingOut: ["hub"])
}

struct IngestSettingsTests {
    @Test func `a feed is read as written`() throws {
        let loaded = LoadedSettings(
            twoLanes + """
                ingest:
                  interval: {min: 10s, max: 5m}
                  websub: {publicURL: https://push.example.org/websub}
                  contact: https://news.example.org/bot
                  feeds:
                    - {name: bbc-world, url: https://example.org/world.xml, category: World, maxAge: 90m, updates: any}
                    - name: agency
                      url: https://agency.example/g2
                      format: newsml-g2
                      lane: backfill
                      map: {Politik: Politics, Sport & Spiel: Sports}
                      default: World
                      maxAge: none
                      onFirstSight: last:3
                      identity: "regex:id=([0-9]+)"
                      maxPerPoll: 4
                      maxPerHour: 40
                      maxVersionsPerHour: 1
                      undated: true
                      catchUp: live
                      futureDates: embargo
                      polite: true
                      strip: ["Read more, here"]
                      signals: {kill: [WITHDRAWN], correction: ["CORRECTED-", "REFILE, CORRECTED"]}
                      group: wire
                      zone: "-03:30"
                      interval: {min: 1s}
                      headers: {Authorization: "${file:/run/secrets/agency}"}
                      allowPrivate: [cms.example]
                      websub: false
                """, leavingOut: ["hub"],
            readFile: { $0 == "/run/secrets/agency" ? .success("Bearer s3cret\n") : .failure(.missing) })
        #expect(lines(loaded) == [])
        let ingest = try #require(loaded.settings).ingest
        #expect(ingest.feeds.intervalMin == .seconds(10))
        #expect(ingest.feeds.intervalMax == .seconds(300))
        #expect(ingest.feeds.webSubURL == "https://push.example.org/websub/")
        #expect(ingest.webSubListen?.description == "127.0.0.1:9465")
        #expect(ingest.listen?.description == "127.0.0.1:9466")
        #expect(ingest.contact == "https://news.example.org/bot")
        #expect(ingest.stateTopic == "news.feeds")
        var world = FeedRules(name: "bbc-world", url: "https://example.org/world.xml")
        world.category = "World"
        world.maxAge = .seconds(5_400)
        world.updates = .any
        var agency = FeedRules(name: "agency", url: "https://agency.example/g2")
        agency.lane = "backfill"
        agency.categoryMap = ["politik": "Politics", "sport & spiel": "Sports"]
        agency.otherwise = "World"
        agency.maxAge = nil
        agency.onFirstSight = .last(3)
        agency.identity = .pattern("id=([0-9]+)")
        agency.maxPerPoll = 4
        agency.maxPerHour = 40
        agency.maxVersionsPerHour = 1
        agency.isUndated = true
        agency.catchUpIsLive = true
        agency.futureDatesAreEmbargoes = true
        agency.isPolite = true
        agency.strip = ["Read more, here"]
        agency.signals = [.kill: ["WITHDRAWN"], .correction: ["CORRECTED-", "REFILE, CORRECTED"]]
        agency.group = "wire"
        agency.zoneMinutes = -210
        agency.intervalMin = .seconds(1)
        agency.headers = [HeaderField("Authorization", "Bearer s3cret")]
        agency.allowPrivate = ["cms.example"]
        agency.usesWebSub = false
        #expect(ingest.feeds.feeds == [world, agency])
    }

    @Test func `the query of a feed's address is not shown, because publishers put keys there`() {
        let loaded = feeds("    - {name: a, url: \"https://example.org/a?key=canary#canary\"}")
        let yaml = EffectiveSetting.yaml(loaded.effective)
        #expect(yaml.contains("https://example.org/a?…"))
        #expect(!yaml.contains("canary"))
    }

    @Test func `a setting that the file leaves out has the component's own default`() throws {
        let settings = try #require(feeds("    - {name: a, url: https://example.org/a}").settings)
        #expect(settings.ingest.feeds.feeds == [FeedRules(name: "a", url: "https://example.org/a")])
        var standard = IngestSettings()
        standard.feeds = settings.ingest.feeds.feeds
        #expect(settings.ingest.feeds == standard)
    }

    @Test func `following feeds needs no key of the hub, publishing does`() {
        let text =
            twoLanes + "hub: {connectionString: \"${NOT_HERE}\"}\ningest: {feeds: [{name: a, url: https://b.c/d}]}"
        #expect(LoadedSettings(text).settings == nil)
        #expect(lines(LoadedSettings(text, leavingOut: ["hub"])) == [])
    }

    @Test func `without feeds there is nothing to check or to create`() throws {
        let settings = try #require(LoadedSettings(minimal()).settings)
        #expect(!settings.ingest.isConfigured)
        #expect(settings.topicRules.feedStateTopic == nil)
        let following = try #require(feeds("    - {name: a, url: https://b.c/d}").settings)
        #expect(following.topicRules.feedStateTopic == "news.feeds")
    }

    @Test func `old entries are not written without a backfill lane`() throws {
        let text =
            "kafka: {bootstrapServers: [a:1]}\nlanes: {live: {topics: [t]}}\ningest: {feeds: [{name: a, url: https://b.c/d}]}"
        let settings = try #require(LoadedSettings(text, leavingOut: ["hub"]).settings)
        #expect(settings.ingest.feeds.backfillLane == "")
    }

    @Test(arguments: [
        ("- {url: https://a.b/c}", "ingest.feeds.#1: has no name; write one that it keeps for good, e.g. name: world"),
        ("- {name: a}", "ingest.feeds.a.url: is missing; write some text, or set NEWSWIRE_INGEST_FEEDS_A_URL"),
        ("- a", "ingest.feeds: expected keys, found a single value; write its keys: name, url"),
        (
            "- {name: a, url: https://a.b/c}\n    - {name: a, url: https://a.b/d}",
            "8:8: error: ingest.feeds.a: is the name of two items, the first on line 7; give each a name of its own"
        ),
        ("- {name: a/b, url: https://a.b/c}", "ingest.feeds.a/b: is not a valid name for a feed"),
        ("- {name: \"a\\tb\", url: https://a.b/c}", "is not a valid name for a feed"),
        ("- {name: a, url: ftp://a.b/c}", "ingest.feeds.a.url: has the scheme ftp, which is not fetched"),
        ("- {name: a, url: world.xml}", "ingest.feeds.a.url: is not an address"),
        ("- {name: a, url: \"https://me:pw@a.b/c\"}", "ingest.feeds.a.url: holds a user name"),
        ("- {name: a, url: https://a.b/c, lane: liv}", "ingest.feeds.a.lane: 'liv' is not a lane; did you mean live?"),
        (
            "- {name: a, url: https://a.b/c, category: Wrold}",
            "warning: ingest.feeds.a.category: 'Wrold' is not a category: such events are unroutable; did you mean World?"
        ),
        (
            "- {name: a, url: https://a.b/c, map: {Politik: Politik}}",
            "warning: ingest.feeds.a.map.Politik: 'Politik' is not"
        ),
        ("- {name: a, url: https://a.b/c, updates: all}", "ingest.feeds.a.updates: 'all' is not understood"),
        ("- {name: a, url: https://a.b/c, onFirstSight: last}", "ingest.feeds.a.onFirstSight: is not understood"),
        (
            "- {name: a, url: https://a.b/c, identity: \"regex:id=(\"}",
            "ingest.feeds.a.identity: is not understood: missing closing parenthesis at character 4"
        ),
        (
            "- {name: a, url: https://a.b/c, identity: \"regex:\"}",
            "ingest.feeds.a.identity: is not understood; write guid"
        ),
        (
            "- {name: a, url: https://a.b/c, zone: Europe/Berlin}",
            "ingest.feeds.a.zone: is not understood; write UTC, or"
        ),
        ("- {name: a, url: https://a.b/c, undated: maybe}", "ingest.feeds.a.undated: 'maybe' is not understood"),
        ("- {name: a, url: https://a.b/c, maxPerPoll: 0}", "ingest.feeds.a.maxPerPoll: '0' is out of range"),
        ("- {name: a, url: https://a.b/c, interval: {min: 2h}}", "ingest.feeds.a.interval.min: the shortest interval"),
        ("- {name: a, url: https://a.b/c, headers: {\"X Y\": z}}", "ingest.feeds.a.headers.X Y: is not a valid HTTP"),
        ("- {name: a, url: https://a.b/c, headers: {Authorization: changeme}}", "still holds the placeholder"),
        (
            "- {name: a, url: https://a.b/c, allowPrivate: [\"http://x\"]}",
            "ingest.feeds.a.allowPrivate: 'http://x' is not a host"
        ),
        (
            "- {name: a, url: https://a.b/c, catagory: World}",
            "ingest.feeds.a.catagory: is not a setting; did you mean category?"
        ),
        (
            "- {name: a, url: https://a.b/c, signals: {kil: [X]}}",
            "ingest.feeds.a.signals.kil: is not a setting; did you mean kill?"
        ),
    ])
    func `a mistake in a feed is reported at its place`(items: String, expected: String) {
        let problems = lines(feeds("    " + items))
        #expect(problems.contains { $0.contains(expected) }, "\(problems)")
    }

    @Test func `the section's own mistakes are reported`() {
        let text = """
            kafka: {bootstrapServers: [a:1]}
            lanes: {live: {topics: [news.feeds]}}
            ingest:
              lane: live2
              interval: {min: 1h}
              websub: {publicURL: http://push.example.org}
              feeds:
                - {name: a, url: https://a.b/c, onFirstSight: all}
            """
        #expect(
            lines(LoadedSettings(text, leavingOut: ["hub"])) == [
                "x.yaml:3:1: error: ingest.stateTopic: the topic news.feeds is already used by lanes.live.topics; give each its own topic",
                "x.yaml:4:9: error: ingest.lane: 'live2' is not a lane; did you mean live?",
                "x.yaml:5:3: error: ingest.interval.max: is shorter than ingest.interval.min; raise it, or lower the other",
                "x.yaml:6:23: warning: ingest.websub.publicURL: is not https: anyone on the way can read what hubs push, and change it; put a proxy with https in front of ingest.websub.listen",
                "x.yaml:8:51: error: ingest.feeds.a.onFirstSight: there is no lane backfill that the old entries could go to; add one under lanes, or write last:N",
            ])
    }

    @Test func `a map of feeds is a mistake, as their order and names would be lost`() {
        let loaded = LoadedSettings(twoLanes + "ingest: {feeds: {a: {url: https://b.c/d}}}", leavingOut: ["hub"])
        #expect(lines(loaded).first?.contains("ingest.feeds: expected a list, found a group of keys") == true)
    }

    @Test func `the environment overrides what a feed has`() throws {
        let loaded = LoadedSettings(
            twoLanes + "ingest: {feeds: [{name: bbc-world, url: https://b.c/d}]}",
            environment: [
                "NEWSWIRE_INGEST_FEEDS_BBC_WORLD_MAX_AGE": "5m", "NEWSWIRE_INGEST_INTERVAL_MIN": "5s",
                "NEWSWIRE_INGEST_FEEDS_BBC_WORLD_MAXAGE": "6m",
            ], leavingOut: ["hub"])
        let ingest = try #require(loaded.settings).ingest
        #expect(ingest.feeds.feeds.first?.maxAge == .seconds(300))
        #expect(ingest.feeds.intervalMin == .seconds(5))
        #expect(lines(loaded).first?.contains("did you mean NEWSWIRE_INGEST_FEEDS_BBC_WORLD_MAX_AGE?") == true)
    }

    @Test func `printed feeds are a list again, without secrets and unset settings`() throws {
        let loaded = LoadedSettings(
            twoLanes + """
                ingest:
                  feeds:
                    - {name: a, url: "https://b.c/d?key=${KEY}", headers: {X-Key: abc}, interval: {min: 1m}}
                    - {name: b, url: https://b.c/e, strip: [Read more]}
                """, environment: ["KEY": "s3cret"], leavingOut: ["hub"])
        #expect(try #require(loaded.settings).ingest.feeds.feeds.map(\.isURLSecret) == [true, false])
        let yaml = EffectiveSetting.yaml(loaded.effective)
        let printed = yaml.split(separator: "\n").drop { !$0.hasPrefix("  feeds:") }.prefix { $0.hasPrefix("  ") }
        #expect(
            printed == [
                "  feeds:", "    - name: a", "      url: \"***\"  # line 7", "      interval:",
                "        min: 1m  # line 7",
                "      headers:", "        X-Key: \"***\"  # line 7", "    - name: b",
                "      url: https://b.c/e  # line 8", "      strip: [\"Read more\"]  # line 8",
            ])
        #expect(!yaml.contains("s3cret"))
        #expect(lines(LoadedSettings(yaml.replacing("\"***\"", with: "https://x.y/z"), leavingOut: ["hub"])) == [])
    }

    @Test func `ten thousand feeds are read in a few seconds`() throws {
        let items = (0..<10_000).map {
            "    - {name: f\($0), url: http://127.0.0.1:9000/f\($0), allowPrivate: [127.0.0.1]}"
        }
        let begin = ContinuousClock.now
        let settings = try #require(feeds(items.joined(separator: "\n")).settings)
        #expect(settings.ingest.feeds.feeds.count == 10_000)
        #expect(begin.duration(to: .now) < .seconds(60))
    }
}
