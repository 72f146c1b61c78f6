import ArgumentParser
import ByteText
import ControlIO
import EditorialControl
import KafkaModel
import NewsModel
import NewswireSettings
import PublisherService

/// The story that a recall is about: a person names it, or one of its events.
struct RecallTarget {
    let name: String
    let story: String
    let found: Found

    /// What the name was found to be.
    enum Found: String {
        case story, event
        /// It was found nowhere, or nobody looked.
        case unseen
    }

    /// Looks the name up, unless it is recalled already.
    ///
    /// - Throws: an exit, after the reason was written to standard error, if the name was never seen or is not clear.
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
            // The end of a recall is about the story that is recalled.
            let recalled = stories.filter(isRecalled)
            let candidates = isLift && !recalled.isEmpty ? recalled : stories
            guard candidates.count == 1, let story = candidates.first else {
                throw Self.exit(
                    "nothing was ordered: \(name) is the id of events of several stories; name one of them: "
                        + stories.joined(separator: ", "))
            }
            (self.story, found) = (story, .event)
        // That nothing stands is said by the command itself.
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
        var lookup = NameLookup(name, settings, at: ServiceClock().now.wall)
        if view.orders[.recall(story: name)] == nil { try lookup.run() }
        return (view, lookup.search)
    }

    private static func exit(_ reason: String) -> ExitCode {
        Terminal.standardError.plainLine("error: \(reason)")
        return .failure
    }

    /// What the name was taken for, where that is not obvious.
    var sentence: String? {
        found == .event ? "\(name) is an event of the story \(story): the order is about that" : nil
    }
}
