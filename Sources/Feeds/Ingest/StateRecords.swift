import ByteText
import NewsModel

// The records of the state topic, written here and read by the next owner.

extension EntryRecord {
    var bytes: [UInt8] {
        JSONWriter.object(reserving: 512) { json in
            json.field("version", state.version)
            if state.versionsAhead > 0 { json.field("versionsAhead", Int64(state.versionsAhead)) }
            json.field("standing", state.standing.rawValue)
            json.field("headline", String(state.headlinePrint, radix: 16))
            json.field("body", String(state.bodyPrint, radix: 16))
            if state.link != 0 { json.field("link", String(state.link, radix: 16)) }
            if state.title != 0 { json.field("title", String(state.title, radix: 16)) }
            if state.expiry != 0 { json.field("expiry", Int64(state.expiry)) }
            if state.embargo != 0 { json.field("embargo", Int64(state.embargo)) }
            if state.embargoSecond != 0 { json.field("embargoSecond", Int64(state.embargoSecond)) }
            if state.past.first.print != 0 {
                json.array("past") { json in
                    for left in state.past.all {
                        json.value(Int64(left.print))
                        json.value(Int64(left.minute))
                    }
                }
            }
            json.field("firstSeen", Int64(state.firstSeen))
            json.field("lastSeen", Int64(state.lastSeen))
            if state.versionsThisHour > 0 {
                json.field("hourBegan", Int64(state.hourBegan))
                json.field("versionsThisHour", Int64(state.versionsThisHour))
            }
            if state.sentPrint != 0 { json.field("sent", Int64(state.sentPrint)) }
            if state.updatedAt != 0 { json.field("updated", Int64(state.updatedAt)) }
            if state.returnedAt != 0 {
                json.field("returnedAt", Int64(state.returnedAt))
                json.field("returns", Int64(state.returns))
            }
            if state.isLate { json.field("late", true) }
            if let name {
                json.field("id", name.id)
                json.field("origin", name.origin?.description)
            }
            json.field("lane", lane)
            json.field("writer", writer)
            json.field("after", after)
            json.field("former", former?.description)
            if isOfFirstReading { json.field("firstReading", true) }
            if let intent { json.object("intent") { intent.write(into: &$0) } }
            if let heldBack {
                json.object("heldBack") { json in
                    json.field("version", heldBack.version)
                    json.field("own", heldBack.own)
                    json.field("due", Int64(heldBack.due))
                    json.field("staleAt", Int64(heldBack.staleAt))
                    if heldBack.isMissing { json.field("missing", true) }
                    heldBack.intent.write(into: &json)
                }
            }
        }
    }

    /// - Returns: `nil` if the object does not describe an entry.
    init?(_ object: JSONObject) {
        let members = StateMembers(object)
        guard let version = members.text("version") else { return nil }
        state = EntryState()
        state.version = version.cut(toBytes: EventLimits.version)
        state.versionsAhead = UInt8(clamping: members.number("versionsAhead") ?? 0)
        state.standing = members.text("standing").flatMap(EntryState.Standing.init) ?? .known
        state.headlinePrint = members.hash("headline")
        state.bodyPrint = members.hash("body")
        state.link = members.hash("link")
        state.title = members.hash("title")
        state.expiry = members.minute("expiry")
        state.embargo = members.minute("embargo")
        state.embargoSecond = UInt8(clamping: members.number("embargoSecond") ?? 0)
        let past = members.numbers("past").map { UInt32(clamping: $0) }
        if past.count == 6 {
            state.past.first = EntryState.Past.Left(print: past[0], minute: past[1])
            state.past.second = EntryState.Past.Left(print: past[2], minute: past[3])
            state.past.third = EntryState.Past.Left(print: past[4], minute: past[5])
        }
        state.firstSeen = members.minute("firstSeen")
        state.lastSeen = members.minute("lastSeen")
        state.hourBegan = members.minute("hourBegan")
        state.versionsThisHour = UInt8(clamping: members.number("versionsThisHour") ?? 0)
        lane = members.text("lane")
        writer = members.text("writer") ?? ""
        after = members.number("after")
        former = members.text("former").flatMap { EntryHash(hexadecimal: $0) }
        isOfFirstReading = members.flag("firstReading")
        state.sentPrint = members.minute("sent")
        state.updatedAt = members.minute("updated")
        state.returnedAt = members.minute("returnedAt")
        state.returns = UInt8(clamping: members.number("returns") ?? 0)
        state.isLate = members.flag("late")
        name = members.text("id").map {
            EventName(id: $0, origin: members.text("origin").flatMap { EntryHash(hexadecimal: $0) })
        }
        intent = members.members("intent").flatMap(Intent.init)
        if let held = members.members("heldBack"), let intent = Intent(held), let version = held.text("version") {
            heldBack = HeldBack(
                intent: intent, version: version.cut(toBytes: EventLimits.version),
                own: held.text("own")?.cut(toBytes: EventLimits.version), due: held.minute("due"),
                staleAt: held.minute("staleAt"), isMissing: held.flag("missing"))
        }
    }
}

extension Intent {
    fileprivate func write(into json: inout JSONWriter) {
        json.field("lane", lane)
        json.field("key", key)
        json.field("order", order)
        json.field("event", String(decoding: event, as: UTF8.self))
    }

    fileprivate init?(_ members: StateMembers) {
        guard let lane = members.text("lane"), let key = members.text("key"), let event = members.bytes("event") else {
            return nil
        }
        self.init(lane: lane, key: key, event: event, order: members.number("order") ?? 0)
    }
}

extension FeedState {
    /// - Parameter readTo: offset of the last record that the writer has read.
    func bytes(writer: String, after readTo: Int64?) -> [UInt8] {
        JSONWriter.object(reserving: 512) { json in
            json.field("url", url)
            json.field("primedAt", primedAt)
            if primedAfter >= 0 { json.field("primedAfter", primedAfter) }
            if isHalfPrimed { json.field("halfPrimed", true) }
            json.field("etag", validators?.etag)
            json.field("lastModified", validators?.lastModified)
            json.field("validatorsSince", validatorsSince)
            json.field("bodyHash", bodyHash)
            if identity != .none { json.field("identity", identity.rawValue) }
            json.field("host", host)
            json.field("lastSuccessAt", lastSuccessAt)
            json.field("lastNewAt", lastNewAt)
            json.field("cappedAt", cappedAt)
            json.field("medianGap", medianGap.map(\.components.seconds))
            json.field("interval", interval.map(\.components.seconds))
            if failures > 0 {
                json.field("failures", failures)
                json.field("failingSince", failingSince)
                json.field("failure", failure)
            }
            if isGone { json.field("gone", true) }
            json.field("retryUntil", retryUntil)
            if let move {
                json.object("move") { json in
                    json.field("from", move.move.from)
                    json.field("to", move.move.to)
                    json.field("since", move.since)
                    json.field("polls", move.polls)
                }
            }
            if webSub != Subscription() { json.object("webSub") { webSub.write(into: &$0) } }
            json.field("writer", writer)
            json.field("after", readTo)
        }
    }

    init(_ object: JSONObject) {
        let members = StateMembers(object)
        url = members.text("url") ?? ""
        primedAt = members.instant("primedAt")
        primedAfter = max(members.number("primedAfter") ?? -1, -1)
        isHalfPrimed = members.flag("halfPrimed")
        let etag = members.text("etag")
        let lastModified = members.text("lastModified")
        if etag != nil || lastModified != nil { validators = Validators(etag: etag, lastModified: lastModified) }
        validatorsSince = members.instant("validatorsSince")
        bodyHash = members.text("bodyHash")
        identity = members.text("identity").flatMap(IdentityFallback.init) ?? .none
        host = members.text("host")
        lastSuccessAt = members.instant("lastSuccessAt")
        lastNewAt = members.instant("lastNewAt")
        cappedAt = members.instant("cappedAt")
        medianGap = members.seconds("medianGap")
        interval = members.seconds("interval")
        failures = Int(clamping: min(max(members.number("failures") ?? 0, 0), 1_000_000))
        failingSince = members.instant("failingSince")
        failure = members.text("failure")
        isGone = members.flag("gone")
        retryUntil = members.instant("retryUntil")
        if let move = members.members("move"), let from = move.text("from"), let to = move.text("to"),
            let since = move.instant("since")
        {
            self.move = MovedAddress(
                restoring: PermanentMove(from: from, to: to), since: since,
                polls: Int(clamping: move.number("polls") ?? 1))
        }
        if let object = members.object("webSub") { webSub = Subscription(object) }
    }

    /// The feed's name and state in a record of the state topic; `nil` for records of other kinds.
    public static func stored(key: String, value: [UInt8]) -> (feed: String, state: FeedState)? {
        let prefix = "feed/"
        guard key.hasPrefix(prefix) else { return nil }
        let parser = JSONParser(sizeMax: Ingester.recordMax)
        // A JSON object is valid only as long as its parser exists.
        let state = withExtendedLifetime(parser) {
            value.withUnsafeBufferPointer { bytes in
                (try? parser.object(in: bytes)).map { FeedState($0) }
            }
        }
        return state.map { (String(key.dropFirst(prefix.count)), $0) }
    }
}
