import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublishEngine

/// The story that a recall is about. The operator names the story or one of its events.
struct RecallTarget {
    let name: String
    let story: String
    let found: NamedStory.Found
    /// Other stories, of events that have the name as their id.
    private let others: [String]

    /// Looks up the name, unless the name itself is already recalled.
    ///
    /// - Throws: an exit if the name was never seen or is ambiguous, after writing the reason to standard error.
    init(_ name: String, _ settings: Settings, isLift: Bool, isUnseen: Bool) throws {
        self.name = name
        if isUnseen {
            (story, found, others) = (name, .unseen, [])
            return
        }
        let known: (view: ControlView, search: NameSearch)
        do throws(KafkaFailure) {
            let view = try ControlReading(settings.kafkaSettings, settings.control.topics).view()
            known = (
                view,
                try NameLookup.search(name, settings.kafkaSettings, settings.namedTopics, view, at: ServiceClock.wall)
            )
        } catch {
            let remedy = isLift ? "" : " --unseen recalls it without looking it up."
            throw CommandFailure("nothing was ordered: \(name) cannot be looked up. \(error)\(remedy)")
        }
        do throws(NameProblem) {
            let named = try NamedStory(known.search, known.view.orders, isLift: isLift)
            (story, found, others) = (named.story, named.found, named.others)
        } catch {
            guard case .unseen = error else { throw CommandFailure(error.sentence) }
            let near = Spelling.near(name, among: known.search.seen, atMost: 3)
            throw CommandFailure(
                error.sentence + (near.isEmpty ? "" : " Similar: \(near.joined(separator: ", ")).")
                    + " --unseen recalls it all the same.")
        }
    }

    /// The story that was found for an event's id; `nil` if the name is not an event's id.
    var sentence: String? {
        if found == .event { return "\(name) is an event of the story \(story): the order is about that" }
        if others.isEmpty { return nil }
        return
            "\(name) is a story, and the order is about that. It is also the id of an event of another story, which the order does not "
            + "concern: \(others.joined(separator: ", "))"
    }
}

extension Settings {
    /// The topics on which names of stories and events are looked up.
    var namedTopics: NamedTopics {
        let lanes = engine.lanes.enumerated().flatMap { index, lane in
            let group = kafkaSettings.consumerGroup(lane: index, named: lane.name)
            return lane.topics.map { NamedTopics.Waiting(topic: $0, group: group) }
        }
        var topics = NamedTopics(
            results: engine.resultsTopic, held: control.topics.held, lanes: lanes, decoders: decoders)
        if let localization = payload.localization, localization.mode != .properties {
            topics.languages = localization.languages.map(\.code)
        }
        topics.environment = policy.environment
        topics.audit = control.topics.audit
        return topics
    }
}
