import ControlIO
import EditorialControl
import KafkaModel
import NewsModel

/// `/api/control`: the orders in force, the processes that obey them, and the latest orders.
enum ControlJSON {
    /// The most orders listed. Stops come first, then the newest recalls.
    static let ordersMax = 100
    static let recentMax = 20

    static func scene(_ scene: ControlMonitor.Scene, at now: Instant) -> [UInt8] {
        let standing = scene.view.standing(at: now)
        let stops = standing.filter(\.isStop)
        // The newest recalls come first, because editors are most likely to lift those.
        let recalls = standing.filter { !$0.isStop }.sorted { ($0.at, $0.id) > ($1.at, $1.id) }
        return JSONWriter.object { json in
            json.field("at", now)
            json.field("known", scene.isKnown)
            json.field("problem", scene.failure?.description)
            json.field("standing", standing.count)
            let unknown = scene.view.unknownOrders
            if !unknown.isEmpty { json.array("unknown", of: Array(unknown.prefix(ordersMax))) }
            let confirmations = scene.trail.confirmations
            json.array("orders") { json in
                for order in (stops + recalls).prefix(ordersMax) {
                    order.list(unconfirmed: scene.view.unconfirmed(order, confirmations), into: &json)
                }
            }
            json.array("processes") { json in
                for beat in scene.view.signs.living { process(beat, into: &json) }
            }
            // Silent processes are not waited for, and have not reported their end.
            json.array("silent") { json in
                for silent in scene.view.signs.silent { process(silent.beat, into: &json) }
            }
            json.array("recent") { json in
                for recent in scene.trail.recent(recentMax, scene.view, at: now) { recent.list(into: &json) }
            }
        }
    }

    private static func process(_ beat: ControlRecord.Beat, into json: inout JSONWriter) {
        json.object { json in
            json.field("replica", beat.replica)
            // The time by the process's own clock.
            json.field("lastHeard", beat.at)
            beat.process?.write(into: &json)
        }
    }

    static func given(_ given: ControlMonitor.Given) -> [UInt8] {
        var bytes: [UInt8] = []
        JSONWriter.write(into: &bytes) { json in
            given.outcome.answers.list(after: given.outcome.took, into: &json) { json in
                switch given.replacement {
                case nil: break
                case .success(let written)?: written.list(into: &json)
                case .failure(let failure)?: json.field("replacementFailed", failure.description)
                }
            }
        }
        return bytes
    }

    static func found(_ found: ControlMonitor.FoundStory) -> [UInt8] {
        JSONWriter.object { json in
            json.field("story", found.name.story)
            json.field("found", found.name.found.rawValue)
            if !found.name.others.isEmpty { json.array("others", of: found.name.others) }
            json.field("recalledBy", found.recall?.by)
            found.history.list(into: &json)
            var doubts = StoryDoubts(inFlight: found.history.sends.inFlight)
            doubts.lacksResults = found.history.lacksResults
            doubts.list(into: &json)
        }
    }
}

extension Order {
    var isStop: Bool { if case .stop = scope { true } else { false } }
}
