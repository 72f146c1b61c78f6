package import NewsModel

// Orders and their effects as JSON objects, for `--json` and the dashboard. Members that every object has are null if they have
// no value.

extension Order {
    /// - Parameters:
    ///   - unconfirmed: the living processes that have not confirmed the order.
    ///   - mayHaveLapsed: true if it has lapsed by a clock that no process supports.
    package func list(
        unconfirmed: [ControlRecord.Beat], mayHaveLapsed: Bool = false, into json: inout JSONWriter
    ) {
        json.object { json in
            json.field("scope", scope.key)
            json.field("do", scope.verb)
            json.field("at", at)
            json.field("by", by)
            json.field("reason", orNull: reason)
            if let until { json.field("until", until) } else { json.null("until") }
            if mayHaveLapsed { json.field("mayHaveLapsed", true) }
            json.field("replacement", replacement)
            json.array("unconfirmed", of: unconfirmed.map(\.replica))
        }
    }
}

extension ControlView {
    /// Writes the order of an unknown kind as an object like `Order.list`, with the little that is known of it.
    ///
    /// - Parameter key: one of `unknownOrders`.
    package static func list(unknown key: String, into json: inout JSONWriter) {
        json.object { json in
            json.field("scope", key)
            for name: StaticString in ["do", "at", "by", "reason", "until"] { json.null(name) }
            json.array("unconfirmed", of: [])
            json.field("unknown", true)
        }
    }
}

extension AuditTrail.Line {
    package func list(into json: inout JSONWriter) {
        json.object { json in
            listMembers(into: &json)
            if let applied = entry.applied { applied.list("applied", into: &json) } else { json.null("applied") }
        }
    }

    fileprivate func listMembers(into json: inout JSONWriter) {
        json.field("at", entry.at)
        json.field("scope", entry.scope)
        json.field("do", entry.action.rawValue)
        json.field("by", orNull: entry.by)
        json.field("reason", orNull: entry.reason)
        if let former = entry.former { json.object("former") { former.write(into: &$0) } }
        json.field("text", entry.text)
        if !entry.despite.isEmpty { json.array("despite", of: entry.despite) }
        json.field("replica", orNull: entry.replica)
        json.field("id", entry.order)
        if cameToNothing { json.field("neverApplied", true) }
    }
}

extension AuditTrail.Recent {
    package func list(into json: inout JSONWriter) {
        json.object { json in
            line.listMembers(into: &json)
            json.field("processes", processes)
            met.list("met", into: &json)
        }
    }
}

extension OrderAnswers {
    /// - Parameter more: writes further members.
    package func list(
        after took: Duration, into json: inout JSONWriter, _ more: (inout JSONWriter) -> Void = { _ in }
    ) {
        json.object { json in
            json.field("scope", instruction.scope.key)
            json.field("do", instruction.action.rawValue)
            json.field("processes", processes)
            json.field("applied", applied)
            json.field("milliseconds", took.nanoseconds / 1_000_000)
            json.array("missing", of: missing.map(\.replica))
            json.array("silent", of: unheard.map(\.beat.replica))
            json.field("confirmed", isComplete)
            met.list("met", into: &json)
            if let former {
                json.object("former") { FormerOrder(former).write(into: &$0) }
            } else {
                json.null("former")
            }
            if let successor { successor.list("successor", into: &json) } else { json.null("successor") }
            more(&json)
        }
    }
}

extension StoryHistory {
    /// Writes the events that readers have, and those that they may have.
    package func list(into json: inout JSONWriter) {
        json.array("accepted") { json in for event in accepted { event.list(into: &json) } }
        json.array("unknown") { json in for event in unknown { event.list(into: &json) } }
        if !sends.unsettled.isEmpty { json.array("unsettledSends", of: sends.unsettled) }
    }
}

extension StoryDoubts {
    /// Writes the object `doubts`.
    package func list(into json: inout JSONWriter) {
        json.object("doubts") { json in
            json.field("inFlight", inFlight)
            json.field("unanswered", unanswered)
            json.field("silent", silent)
            json.field("unheard", isUnheard)
            json.field("lacksResults", lacksResults)
        }
    }
}

extension StoryHistory.Sent {
    fileprivate func list(into json: inout JSONWriter) {
        json.object { json in
            json.field("eventId", eventID)
            json.field("at", at)
            json.array("categories", of: categories)
            if hasSingleReaders { json.field("singleReaders", true) }
            if isTest { json.field("test", true) }
        }
    }
}

extension WrittenReplacement {
    package func list(into json: inout JSONWriter) {
        json.array("replaced", of: reach)
        json.array("notReplaced", of: doubtful)
        if !otherGroups.isEmpty { json.array("otherGroups", of: otherGroups) }
        if successor != nil { json.field("replacementCanceled", true) }
    }
}

extension OrderChange {
    fileprivate func list(_ name: StaticString, into json: inout JSONWriter) {
        json.object(name) { json in
            switch self {
            case .stands(let order):
                json.field("do", order.scope.given.rawValue)
                FormerOrder(order).write(into: &json)
            case .lifted(let scope): json.field("do", scope.ended.rawValue)
            }
        }
    }
}

extension AppliedOrder {
    fileprivate func list(_ name: StaticString, into json: inout JSONWriter) {
        json.object(name) { json in
            json.field("waiting", waiting)
            json.field("inFlight", inFlight)
            json.field("held", held)
        }
    }
}

extension JSONWriter {
    fileprivate mutating func field(_ name: StaticString, orNull text: String?) {
        if let text { field(name, text) } else { null(name) }
    }
}
