public import NewsModel
public import NotificationHub

/// The identity of a followed send. It is valid until the send is forgotten.
public struct FollowedSendID: Hashable, Sendable {
    let number: UInt64
    /// The urgency of the send's lane: 0 is the most urgent.
    let rank: Int
}

public enum TelemetryInput: Sendable {
    /// The process now owns exactly these partitions of the results topic.
    /// - total: the topic's partitions, from which the process's share of the pace is computed.
    case assigned([Int32], total: Int)
    /// Results, in the order of their offsets.
    case results(partition: Int32, [SourceRecord])
    /// All records that were on the partition when it was assigned have arrived.
    case restored(partition: Int32)
    /// The topic was deleted and created again, so its offsets restart.
    case restarted(partition: Int32)
    /// Finish the work in flight. Answered by `release`.
    case revoked
    /// Other processes already own the partitions.
    case lost
    case answered(FollowedSendID, HubWord)
    /// The record with this number is stored.
    case stored(UInt64)
    /// The record is permanently refused because of its content.
    case refused(UInt64)
    /// The record was not stored and may be retried.
    case notStored(UInt64, because: String)
    /// The answer to a `commit`: the reason why the offsets are not stored, if so.
    case committed(failure: String?)
    case tick
    /// Stop asking, commit, and answer with `finished`.
    case finish
}

/// An action for the owner of a `TelemetryState`. No action blocks.
public enum TelemetryAction: Sendable, Equatable {
    /// Ask the hub. Answered by `answered`.
    case ask(FollowedSendID, notificationID: String)
    /// Store the record on the result's partition. Answered by `stored`, `refused` or `notStored` with the number.
    case store(UInt64, partition: Int32, key: String, value: [UInt8])
    /// Commit these offsets, by partition. Answered by `committed`. At most one commit is in flight.
    case commit([Int32: Int64])
    /// Grant credit: this amount was processed, and as much more may be delivered.
    case read(records: Int, bytes: Int)
    /// No work is in flight for the revoked partitions.
    case release
    /// The hub refused the token. Make a new one.
    case renewToken
    /// Call `handle` with `tick` at this time.
    case wake(at: Instant)
    /// Reported once: every send on the partitions at their assignment has its last record and is committed.
    case caughtUp
    case finished
    case note(TelemetryNote)
}

/// A message for the log. It never names a notification.
public struct TelemetryNote: Sendable, Equatable {
    public enum Level: Sendable { case info, warning, error }

    public var level: Level
    public var text: String
}

/// The outcome of one question.
public enum HubWord: Sendable, Hashable {
    case details(NotificationDetails)
    /// 404: the hub has no telemetry of the send, either not yet or never.
    case nothing
    /// A permanent refusal of this question, for example 400.
    case refused(status: Int)
    /// 429, or 403 or 503 with a time to wait.
    case wait(Duration)
    /// 403 without a time to wait: the tier has no telemetry, or the key may not read it.
    case notAllowed
    case tokenRefused
    /// The answer cannot be read.
    case unreadable(NotificationDetailsProblem)
    /// The hub did not answer, or answered without information, for example with 500.
    case failed(String)
}

extension HubWord {
    /// - Parameter body: the reply's body.
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
        case 429: self = .wait(reply.retryAfter ?? SendMeaning.throttledByDefault)
        case 503: self = reply.retryAfter.map { .wait($0) } ?? .failed("the hub answers 503")
        case 400, 405, 410, 413, 414: self = .refused(status: reply.status)
        default: self = .failed("the hub answers \(reply.status)")
        }
    }
}
