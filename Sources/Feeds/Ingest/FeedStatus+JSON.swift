import NewsModel

extension FeedStatus {
    /// One JSON object, for programs that read line by line.
    public var json: [UInt8] { JSONWriter.object(reserving: 512) { write(into: &$0) } }

    private func write(into json: inout JSONWriter) {
        json.field("name", name)
        json.field("url", url)
        json.field("state", state.code)
        json.field("problem", isProblem)
        switch state {
        case .failing(let since, _), .blocked(let since, _): json.field("since", since)
        case .capped(let since, _): json.field("since", since)
        case .waiting(let until): json.field("until", until)
        case .new, .primed, .gone, .stopped: break
        }
        json.field("detail", state.detail)
        json.field("lastPoll", lastPollAt)
        json.field("lastSuccess", lastSuccessAt)
        json.field("lastNew", lastNewAt)
        json.field("quiet", isQuiet)
        if let usualGap { json.field("usualGapSeconds", usualGap.components.seconds) }
        json.field("nextPoll", nextPollAt)
        json.field("because", because)
        json.field("movedTo", movedTo)
        if let heldBack { json.field("heldBack", heldBack) }
        if let counts { json.object("counts") { counts.write(into: &$0) } }
        json.object("webSub") { push.write(into: &$0) }
    }
}

extension FeedCounts {
    fileprivate func write(into json: inout JSONWriter) {
        json.field("polls", polls)
        json.field("unchanged", unchanged)
        json.field("failures", failures)
        json.field("bytes", bytes)
        json.field("refused", refused)
        json.field("rekeyed", rekeyed)
        json.field("unreadableDates", unreadableDates)
        json.field("pushes", pushes)
        json.field("forgedPushes", forgedPushes)
        json.object("entries") { json in
            for action in Decision.Action.allCases { json.field(named: action.rawValue, Int64(self[action])) }
        }
    }
}

extension PushStatus {
    fileprivate func write(into json: inout JSONWriter) {
        json.field("state", phase.rawValue)
        json.field("hub", hub)
        json.field("until", until)
        json.field("proven", isProven)
        json.field("pushedFirst", pushedFirst)
        json.field("polledFirst", polledFirst)
    }
}
