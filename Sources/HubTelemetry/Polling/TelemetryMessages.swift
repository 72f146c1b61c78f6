public import NewsModel
public import NotificationHub

/// Names one send that is followed, until it is forgotten.
public struct FollowedSendID: Hashable, Sendable {
    let number: UInt64
    /// The urgency of its lane: 0 is the most urgent.
    let rank: Int
}

/// What a `TelemetryDesk` is told.
public enum TelemetryInput: Sendable {
    /// These partitions of the results topic are ours, and nothing else is.
    /// - total: how many the topic has; our share of the pace is that of the partitions.
    case assigned([Int32], total: Int)
    /// Results, in the order of their offsets.
    case results(partition: Int32, [SourceRecord])
    /// Everything that stood on the partition when it was assigned has come.
    case restored(partition: Int32)
    /// The topic was made anew: offsets start again.
    case beganAnew(partition: Int32)
    /// Finish what is under way; `release` answers.
    case revoked
    /// Others own the partitions already.
    case lost
    case answered(FollowedSendID, HubWord)
    /// The record with this number is stored.
    case stored(UInt64)
    /// It will never be, for its own fault.
    case refused(UInt64)
    /// It was not; it may be tried again.
    case notStored(UInt64)
    /// The answer to a `commit`.
    case committed(Bool)
    case tick
    /// Ask nothing more, commit, and end with `finished`.
    case finish
}

/// What a `TelemetryDesk` wants done. None of it blocks.
public enum TelemetryAction: Sendable, Equatable {
    /// Ask the hub; `answered` follows.
    case ask(FollowedSendID, notificationID: String)
    /// Store this record on the partition of the result; `stored` or `notStored` follows with the number.
    case store(UInt64, partition: Int32, key: String, value: [UInt8])
    /// Commit these offsets, by partition; `committed` follows. At most one at a time is under way.
    case commit([Int32: Int64])
    /// So much of what came is dealt with, and as much more may come.
    case read(records: Int, bytes: Int)
    /// Nothing is under way any more for what was revoked.
    case release
    /// The hub refused the token: make a new one.
    case renewToken
    /// Come back with `tick`.
    case wake(at: Instant)
    /// Everything that stood on the partitions when they were assigned has its last record, and is committed. Once.
    case caughtUp
    case finished
    case note(TelemetryNote)
}

/// Something for the log. Never names a notification.
public struct TelemetryNote: Sendable, Equatable {
    public enum Level: Sendable { case info, warning, error }

    public var level: Level
    public var text: String
}

/// What came of one question.
public enum HubWord: Sendable, Hashable {
    case details(NotificationDetails)
    /// 404: not yet, or never.
    case nothing
    /// This question will be refused again, as 400.
    case refused(status: Int)
    /// 429, 403 or 503 with a time to wait.
    case wait(Duration)
    /// 403 without a time: the tier has no telemetry, or the key may not read it.
    case notAllowed
    case tokenRefused
    /// The answer cannot be read.
    case unreadable(NotificationDetailsProblem)
    /// No answer, or one that says nothing, as 500.
    case failed(String)
}

extension HubWord {
    /// - Parameter body: of the reply.
    public init(_ reply: HubReply, body: [UInt8]) {
        switch reply.status {
        case 200:
            do throws(NotificationDetailsProblem) {
                self = .details(try NotificationDetails(parsing: body))
            } catch {
                self = .unreadable(error)
            }
        case 404: self = .nothing
        case 401: self = .tokenRefused
        case 403: self = reply.retryAfter.map { .wait($0) } ?? .notAllowed
        case 429: self = .wait(reply.retryAfter ?? ReplyMeaning.throttledByDefault)
        case 503: self = reply.retryAfter.map { .wait($0) } ?? .failed("the hub answers 503")
        case 400, 405, 410, 413, 414: self = .refused(status: reply.status)
        default: self = .failed("the hub answers \(reply.status)")
        }
    }
}
