import ControlIO
import EditorialControl
import KafkaModel
import NewsModel
import NewswireCommands
import NotificationHub
import PublishEngine
import Testing

struct OrderReportTests {
    /// A report of three processes, the first of which has met deliveries.
    ///
    /// - Parameter silent: the processes that have not answered.
    private func report(
        _ scope: ControlScope, waiting: Int, inFlight: Int, held: Int = 0, lifts: Bool = false,
        silent: Set<String> = [],
        former: Order? = nil
    ) -> OrderReport {
        let order = Instruction(id: "o", scope: scope, lifts: lifts, at: Instant(milliseconds: 0), by: "m")
        var answers = OrderAnswers(to: order, inPlaceOf: former)
        let beats = ["a", "b", "c"].map { ControlRecord.Beat(replica: $0, at: Instant(milliseconds: 0)) }
        var signs = LifeSigns(capacity: 3)
        for beat in beats { signs.heard(beat) }
        answers.apply(order.order.map { .stands($0) } ?? .lifted(scope), signs)
        for beat in beats where !silent.contains(beat.replica) {
            let isFirst = beat.replica == "a"
            answers.apply(
                AuditEntry(
                    at: Instant(milliseconds: 0), scope: scope.key, action: order.action, order: "o",
                    replica: beat.replica,
                    applied: AppliedOrder(
                        order: "o", waiting: isFirst ? waiting : 0, inFlight: isFirst ? inFlight : 0, held: held)))
        }
        return OrderReport(answers, took: .milliseconds(140))
    }

    @Test func `the outcome is one sentence`() {
        let applied = "applied by 3 of 3 processes in 140 ms"
        let story = ControlScope.recall(story: "urn:x\u{1B}[2J")
        #expect(
            report(story, waiting: 12, inFlight: 2).sentence
                == "recalled urn:x[2J: \(applied); 12 waiting deliveries ended, 2 were on their way")
        #expect(
            report(story, waiting: 0, inFlight: 1).sentence
                == "recalled urn:x[2J: \(applied); nothing of it was waiting, 1 was on its way")
        #expect(report(story, waiting: 0, inFlight: 0).sentence.hasSuffix("; nothing of it was waiting"))
        #expect(
            report(.stop(.lane("live")), waiting: 1_204, inFlight: 0).sentence
                == "stopped lane live: \(applied); 1,204 deliveries wait")
        #expect(report(story, waiting: 0, inFlight: 0, held: 1).sentence == "recalled urn:x[2J: \(applied); 1 was held")
        #expect(
            report(story, waiting: 2, inFlight: 0, held: 1).sentence.hasSuffix(
                "; 2 waiting deliveries ended, 1 was held"))
        #expect(
            report(.stop(.hub), waiting: 0, inFlight: 0).sentence == "stopped the hub: \(applied); 0 deliveries wait")
        #expect(report(.stop(.hub), waiting: 3, inFlight: 0, lifts: true).sentence == "resumed the hub: \(applied)")
    }

    @Test func `the report of an unconfirmed order says that it is in force`() {
        let nobody = Instruction(id: "o", scope: .stop(.hub), at: Instant(milliseconds: 0), by: "m")
        #expect(
            OrderReport(OrderAnswers(to: nobody), took: .zero).sentence
                == "stopped the hub: no process has confirmed; the order is in force. A process that starts reads it before it "
                + "sends anything")
    }

    @Test func `a process that is not awaited is named with its risk`() {
        let stop = Instruction(id: "o", scope: .stop(.hub), at: Instant(milliseconds: 0), by: "m")
        var signs = LifeSigns(capacity: 3)
        for (replica, seconds) in [("gone\u{1B}", 100), ("a", 1_000)] {
            signs.heard(.init(replica: replica, at: Instant(milliseconds: 0), logTime: .seconds(seconds)))
        }
        var answers = OrderAnswers(to: stop)
        answers.apply(stop.record, signs)
        #expect(
            OrderReport(answers, took: .zero).silent == [
                "warning: gone fell silent 15 min ago and has not said that it ended: it is not waited for. If it still runs but "
                    + "is cut off from Kafka, it may send what it had read before; make sure that it has ended"
            ])
    }

    @Test func `the outcome covers only processes that have answered`() {
        let story = ControlScope.recall(story: "S")
        #expect(
            report(story, waiting: 0, inFlight: 0, silent: ["c"]).sentence
                == "recalled S: applied by 2 of 3 processes in 140 ms; nothing of it was waiting in those that answered"
        )
        #expect(
            report(.stop(.hub), waiting: 1, inFlight: 0, silent: ["b", "c"]).sentence
                == "stopped the hub: applied by 1 of 3 processes in 140 ms; 1 delivery waits in those that answered")
        #expect(
            report(story, waiting: 0, inFlight: 0, silent: ["a", "b", "c"]).sentence
                == "recalled S: applied by 0 of 3 processes in 140 ms")
    }

    @Test func `an open transaction that hides answers is named as the cause of their absence`() {
        var answers = OrderAnswers(to: Instruction(id: "o", scope: .stop(.hub), at: Instant(milliseconds: 0), by: "m"))
        var signs = LifeSigns(capacity: 3)
        signs.heard(.init(replica: "a", at: Instant(milliseconds: 0), logTime: .seconds(1)))
        answers.apply(answers.instruction.record, signs)
        let report = OrderReport(answers, took: .zero)
        #expect(report.missing(audit: "news.audit").last?.contains("its /readyz says so") == true)
        let hidden = report.missing(audit: "news.audit", areHidden: true)
        #expect(hidden.count == 2)
        #expect(hidden.last?.contains("A transaction on news.audit is open and hides every record behind it") == true)
        #expect(hidden.last?.contains("/readyz") == false)
    }

    @Test func `a replaced order is reported with its author, time and reason`() {
        let former = Order(
            id: "o0", scope: .stop(.hub), at: Instant(milliseconds: 1_795_255_200_000), by: "n\u{1B}", reason: "flood")
        #expect(
            report(.stop(.hub), waiting: 0, inFlight: 0, former: former).replacement
                == "it takes the place of the stop by n, 2026-11-21 10:00:00 UTC: flood")
        #expect(report(.stop(.hub), waiting: 0, inFlight: 0).replacement == nil)
    }

    // MARK: Recalls

    private func history(_ results: (id: String, outcome: Outcome)...) -> StoryHistory {
        var history = StoryHistory(story: "S")
        for result in results {
            history.apply(
                ResultRecord(
                    eventID: result.id, story: "S", platform: .template, outcome: result.outcome,
                    categories: ["World"], lane: "live",
                    source: .init(partition: TopicPartition(topic: "t", partition: 0), offset: 0),
                    settledAt: Instant(milliseconds: 1_795_255_200_000)))
        }
        return history
    }

    @Test func `a recall claims that the hub took nothing only if that is known`() {
        #expect(RecallReport(history(), StoryDoubts()).lines == ["the hub took nothing of it in the last 7 days"])
        #expect(
            RecallReport(history(), StoryDoubts(inFlight: 1, unanswered: 2)).lines == [
                "no result of the last 7 days says that the hub took any of it",
                "more may have been accepted: the outcome of 1 request was not stored when the recall arrived, and 2 processes have not "
                    + "answered. newswire results shows what is known later",
            ])
        #expect(
            RecallReport(history(), StoryDoubts(unanswered: 1, silent: 3)).lines.last
                == "more may have been accepted: 1 process has not answered, and 3 processes that have fallen silent were not "
                + "waited for. newswire results shows what is known later")
        var lost = StoryDoubts()
        lost.lacksResults = true
        #expect(
            RecallReport(history(), lost).lines == [
                "no result of the last 7 days says that the hub took any of it",
                "more may have been accepted: results of the last 7 days are missing on their topic. Publish a text as news if "
                    + "their readers must know of it",
            ])
        #expect(
            RecallReport(history(("a", .accepted), ("b\u{1B}", .unknown)), StoryDoubts()).lines == [
                "already accepted: a, 2026-11-21 10:00:00 UTC, for World",
                "may have been accepted, the outcome is unknown: b, 2026-11-21 10:00:00 UTC, for World",
            ])
    }

    @Test func `requests that were accepted during the wait are listed`() {
        let former = history(("a", .accepted), ("b", .unknown))
        let later = history(("a", .accepted), ("b", .unknown), ("c\u{1B}", .accepted), ("d", .unknown))
        #expect(
            RecallReport(later).lines(since: former) == [
                "accepted meanwhile: c, 2026-11-21 10:00:00 UTC, for World",
                "the outcome is unknown: d, 2026-11-21 10:00:00 UTC, for World",
            ])
        #expect(RecallReport(former).lines(since: former).isEmpty)
    }

    @Test func `a recall says whose readers it does not count`() {
        var written = WrittenReplacement()
        #expect(RecallReport.others([], written) == nil)
        #expect(RecallReport.others(["sport"], written)?.hasSuffix("with that group's settings") == true)
        written.reach = ["World"]
        #expect(
            RecallReport.others(["sport"], written)
                == "warning: the readers of the hub of sport are not counted, and get no replacement: these results are those of "
                + "one group. Repeat the command with that group's settings, once this replacement has left: a later recall ends one "
                + "that waits")
        #expect(RecallReport.others(["sport"])?.contains("are not counted: these results are those of one") == true)
    }

    @Test func `a replacement that was not sent is reported with what is not known`() {
        func sentence(_ written: WrittenReplacement, _ doubts: StoryDoubts) -> String {
            ReplacementReport(
                written, of: "S", lanes: [], ControlView(), isConfirmed: true, doubts, at: Instant(milliseconds: 0)
            ).sentence
        }
        var written = WrittenReplacement()
        #expect(
            sentence(written, StoryDoubts()) == "nothing to replace: the hub took nothing of S in the last 7 days")
        #expect(
            sentence(written, StoryDoubts(unanswered: 1)).hasPrefix(
                "nothing was replaced: no result of the last 7 days says that the hub took any of S, but more may have")
        )
        written.doubtful = [Replacement.openSends]
        #expect(
            sentence(written, StoryDoubts()).hasSuffix(
                ". Recall it again with --replace once newswire results shows the outcome"))
        written.doubtful = ["Sports"]
        #expect(
            sentence(written, StoryDoubts())
                == "nothing was replaced, because it is not known if the hub took S: the outcome is unknown for Sports")
        written.reach = ["World"]
        #expect(
            sentence(written, StoryDoubts())
                == "the replacement is on its way to the readers of World. It is not known if the hub took S for Sports "
                + "too: nothing is replaced there")
    }

    @Test func `a replacement that does not reach the story's readers by the settings says why`() throws {
        let rules = try ContentRules(table: try CategoryTable([.init(name: "World", tag: "Welt")]))
        func event(_ category: String) -> NewsEvent {
            var event = NewsEvent(id: "r", headline: "h")
            event.categories = [category]
            return event
        }
        var written = WrittenReplacement()
        written.reach = ["World"]
        written.events = [.init(event: event("World"), tags: ["Welt"])]
        #expect(written.unreached(by: rules).isEmpty)
        written.events = [.init(event: event("World"), tags: ["Welt", "World"])]
        #expect(written.unreached(by: rules) == ["it went to World, which the replacement does not"])
        #expect(written.reachesAnybody(by: rules))
        let report = ReplacementReport(
            written, of: "S", lanes: [], ControlView(), isConfirmed: true, StoryDoubts(),
            unreached: written.unreached(by: rules), at: Instant(milliseconds: 0))
        #expect(
            report.sentence
                == "by these settings, the replacement for the readers of World does not reach all who have S: it went to World, "
                + "which the replacement does not. Publish the text as news for the others, or restore the settings and recall "
                + "S again")
        written.events = [.init(event: event("Local"), tags: ["Local"])]
        #expect(written.unreached(by: rules) == ["the settings have no category “Local”"])
        #expect(!written.reachesAnybody(by: rules))
        let lost = ReplacementReport(
            written, of: "S", lanes: [], ControlView(), isConfirmed: true, StoryDoubts(),
            unreached: written.unreached(by: rules), reachesAnybody: false, at: Instant(milliseconds: 0))
        #expect(
            lost.sentence.contains(
                "does not reach anybody: the settings have no category “Local”. Publish the text as news, or"))
    }

    @Test func `a replacement whose recall was overtaken is reported as one that does not leave`() {
        func sentence(_ written: WrittenReplacement) -> String {
            ReplacementReport(
                written, of: "S", lanes: [], ControlView(), isConfirmed: true, StoryDoubts(),
                at: Instant(milliseconds: 0)
            ).sentence
        }
        var written = WrittenReplacement()
        let other = Order(
            id: "o2", scope: .recall(story: "S"), at: Instant(milliseconds: 1_795_255_200_000), by: "n", reason: "mine")
        written.successor = .stands(other)
        #expect(
            sentence(written)
                == "the replacement does not leave: another recall has taken its place: by n, 2026-11-21 10:00:00 UTC: mine"
        )
        #expect(written.leavesDoubt(StoryDoubts()))
        (written.reach, written.topics) = (["World"], ["news"])
        written.successor = .lifted(.recall(story: "S"))
        #expect(
            sentence(written)
                == "what has not left of the replacement for the readers of World does not leave any more: "
                + "the recall was lifted")
    }

    @Test func `an order that another one followed says so, to people and to programs`() {
        let stop = Instruction(id: "o", scope: .stop(.hub), at: Instant(milliseconds: 0), by: "m")
        var answers = OrderAnswers(to: stop)
        let signs = LifeSigns(capacity: 1)
        if let order = stop.order { answers.apply(.stands(order), signs) }
        #expect(OrderReport(answers, took: .zero).successor == nil)
        #expect(OrderReport(answers, took: .zero).json().contains(#""successor":null"#))
        var other = stop
        (other.id, other.by) = ("p", "n")
        if let order = other.order { answers.apply(.stands(order), signs) }
        let report = OrderReport(answers, took: .zero)
        #expect(report.successor == "in the meantime another stop has taken its place: by n, 1970-01-01 00:00:00 UTC")
        #expect(report.json().contains(#""successor":{"do":"stop","id":"p","at":"1970-01-01T"#), "\(report.json())")
        answers.apply(.lifted(.stop(.hub)), signs)
        #expect(OrderReport(answers, took: .zero).successor == "in the meantime it was resumed")
    }

    @Test func `check names stops of lanes and categories that the configuration does not have any more`() {
        let rules = OrderRules(lanes: ["live"], categories: ["Planet"], aliases: ["world": "Planet"])
        func lines(_ gates: Gate..., rules: OrderRules?) -> [String] {
            let orders = gates.map { Order(id: "o", scope: .stop($0), at: Instant(milliseconds: 0), by: "m") }
            return CheckFinding.stops(orders, rules).map { $0.line(hasColours: false) }
        }
        #expect(lines(.hub, .lane("live"), .category("World"), .feed("f"), .run("r"), rules: rules).isEmpty)
        #expect(
            lines(.category("Sports"), rules: rules) == [
                "warn  control   category Sports is stopped, but the configuration has no such name: news is sent; "
                    + "if it was renamed, list Sports under its names, or stop it by its new name; then newswire resume category:Sports"
            ])
        #expect(
            lines(.lane("archive"), rules: rules).first?.hasPrefix("warn  control   lane archive is stopped, but")
                == true)
        #expect(lines(.category("Sports"), rules: nil).isEmpty, "invalid categories are another finding")
    }

    @Test func `an order of an unknown kind is named with its consequence and its remedy`() throws {
        var view = ControlView()
        #expect(ControlTable.unknown(view, "news.control") == nil)
        view.apply(SourceRecord(offset: 0, key: Array("hold/story/x".utf8), value: Array(#"{"do":"hold"}"#.utf8)))
        let warning = try #require(ControlTable.unknown(view, "news.control"))
        #expect(warning.contains("hold/story/x: nothing is sent") && warning.contains("tombstone"))
        #expect(
            ControlTable.summary(orders: 0, processes: 3, obeying: 3, unknown: view.unknownOrders.count)
                == "no order stands besides 1 of an unknown kind; processes of this version send nothing")
        let json = JSONWriter.object { json in
            json.array("orders") { ControlView.list(unknown: "hold/story/x", into: &$0) }
        }
        #expect(String(decoding: json, as: UTF8.self).contains(#""scope":"hold/story/x","do":null"#))
    }

    @Test func `the audit names the order that a process has written again`() {
        var trail = AuditTrail()
        trail.apply(
            AuditEntry(
                at: Instant(milliseconds: 0), scope: "stop/hub", action: .stop, order: "o", replica: "news-1"))
        let table = ControlTable.audit(trail.lines(ControlView(), at: Instant(milliseconds: 0)), hasColours: false)
        #expect(table.contains("written again: stop the hub"), "\(table)")
    }

    @Test func `an order that may have lapsed is listed as such`() {
        let order = Order(
            id: "o", scope: .recall(story: "S"), at: Instant(milliseconds: 0), by: "m",
            until: Instant(milliseconds: 1_795_255_200_000))
        let table = ControlTable.orders([order], hasColours: false, mayHaveLapsed: { _ in true })
        #expect(table.contains("2026-11-21 10:00:00, may have lapsed"))
        #expect(!ControlTable.orders([order], hasColours: false).contains("lapsed"))
        let json = String(
            decoding: JSONWriter.object { json in
                json.array("orders") { order.list(unconfirmed: [], mayHaveLapsed: true, into: &$0) }
            }, as: UTF8.self)
        #expect(json.contains(#""mayHaveLapsed":true"#))
    }

    @Test func `only a name that nothing matches is doubted`() {
        func doubt(_ gate: Gate, waiting: Int = 0, lifts: Bool = false, silent: Set<String> = []) -> String? {
            report(.stop(gate), waiting: waiting, inFlight: 0, lifts: lifts, silent: silent).doubt(feeds: ["agency"])
        }
        #expect(doubt(.hub) == nil && doubt(.lane("live")) == nil && doubt(.category("World")) == nil)
        #expect(doubt(.run("1")) != nil && doubt(.run("1"), lifts: true) == nil)
        #expect(doubt(.run("1"), waiting: 1) == nil && doubt(.run("1"), silent: ["a", "b", "c"]) == nil)
        #expect(doubt(.feed("agency"), waiting: 1) == nil)
        #expect(
            doubt(.feed("agncy"), waiting: 1)
                == "warning: feed agncy stands stopped, but the configuration has no such feed (did you mean agency?). If "
                + "the name is wrong: newswire resume --config FILE feed:agncy")
    }

    @Test func `a stop of what is held is not doubted, and says how many events are held`() {
        func stop(held: Int?) -> OrderReport {
            var report = report(.stop(.run("1")), waiting: 0, inFlight: 0)
            report.held = held
            return report
        }
        #expect(stop(held: 0).doubt(feeds: []) != nil && stop(held: 0).heldSentence == nil)
        #expect(stop(held: nil).heldSentence == nil && !stop(held: nil).json().contains("heldEvents"))
        #expect(stop(held: 2).doubt(feeds: []) == nil)
        #expect(stop(held: 2).heldSentence == "2 events of it are held, and do not leave before it is resumed")
        #expect(stop(held: 1).heldSentence == "1 event of it is held, and does not leave before it is resumed")
        #expect(stop(held: 2).json().contains(#""heldEvents":2"#))
    }
}
