import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import PublisherService

/// The story that a recall is about. The operator names the story or one of its events.
struct RecallTarget {
    let name: String
    let story: String
    let found: Found

    /// The meaning that was found for the name.
    enum Found: String {
        case story, event
        /// The name was found nowhere, or was not looked up.
        case unseen
    }

    /// Looks up the name, unless the name itself is already recalled.
    ///
    /// - Throws: an exit if the name was never seen or is ambiguous, after writing the reason to standard error.
    init(_ name: String, _ settings: Settings, isLift: Bool, isUnseen: Bool) throws {
        self.name = name
        if isUnseen {
            (story, found) = (name, .unseen)
            return
        }
        let known: (view: ControlView, search: NameSearch)
        do throws(KafkaFailure) {
            known = try Self.lookUp(name, settings)
        } catch {
            let remedy = isLift ? "" : " --unseen recalls it without looking it up."
            throw Self.exit("nothing was ordered: \(name) cannot be looked up. \(error)\(remedy)")
        }
        func isRecalled(_ story: String) -> Bool { known.view.orders[.recall(story: story)] != nil }
        switch known.search.meaning {
        case _ where isRecalled(name), .story: (story, found) = (name, .story)
        case .event(of: let stories):
            // A lift is about the story that is recalled.
            let recalled = stories.filter(isRecalled)
            let candidates = isLift && !recalled.isEmpty ? recalled : stories
            guard candidates.count == 1, let story = candidates.first else {
                throw Self.exit(
                    "nothing was ordered: \(name) is the id of events of several stories; name one of them: "
                        + stories.joined(separator: ", "))
            }
            (self.story, found) = (story, .event)
        // The command itself reports that there is nothing to lift.
        case .unseen where isLift: (story, found) = (name, .unseen)
        case .unseen:
            let near = Spelling.near(name, among: known.search.seen, atMost: 3)
            throw Self.exit(
                "nothing was recalled: \(name) was not seen, as a story or as an event, in the results of the last 7 days, on "
                    + "the held topic or on the lanes. "
                    + (near.isEmpty ? "" : "Similar: \(near.joined(separator: ", ")). ")
                    + "--unseen recalls it all the same.")
        }
    }

    private static func lookUp(
        _ name: String, _ settings: Settings
    ) throws(KafkaFailure) -> (view: ControlView, search: NameSearch) {
        let view = try ControlReading(settings.kafkaSettings, settings.control.topics).view()
        // This machine's clock may be ahead.
        let wall = ServiceClock().now.wall
        var lookup = NameLookup(name, settings, at: view.lapseClock(wall) ?? wall)
        if view.orders[.recall(story: name)] == nil { try lookup.run() }
        return (view, lookup.search)
    }

    private static func exit(_ reason: String) -> ExitCode {
        Terminal.standardError.plainLine("error: \(reason)")
        return .failure
    }

    /// The story that was found for an event's id; `nil` if the name is not an event's id.
    var sentence: String? {
        found == .event ? "\(name) is an event of the story \(story): the order is about that" : nil
    }
}
