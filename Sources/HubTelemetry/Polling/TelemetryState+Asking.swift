import NewsModel
import NotificationHub

// Questions to the hub and the evaluation of its answers.

extension TelemetryState {
    /// The interval of test questions while the hub does not permit questions.
    private static let notAllowedPause = Duration.seconds(600)
    private static let tokenPause = Duration.seconds(60)
    private static let waitMax = Duration.seconds(3_600)
    private static let failurePauseMax = Duration.seconds(60)
    /// Failed polls in a row after which a send beyond its last age ends without an answer.
    private static let failuresMax = 3
    private static let writePause = Duration.seconds(1)

    mutating func ask(at now: Moment) {
        while inFlight < inFlightMax, problem == .notAllowed || pace.opensAt <= now.steady,
            let id = polls.take(at: now.steady)
        {
            guard var send = sends[id] else { continue }
            if case .ending(let record) = send.phase {
                store(record, of: id, send, isLast: true)
                continue
            }
            // Occasional test questions suffice to notice a change. The other sends wait for the end of their schedule.
            if problem == .notAllowed, pace.opensAt > now.steady {
                wait(id, send, at: now)
                continue
            }
            guard pace.admit(at: now.steady) else {
                polls.add(id, at: pace.opensAt)
                return
            }
            // Polls whose time passed while other sends were polled count as one.
            let age = send.age(at: now.wall)
            send.attempt = PollSchedule.next(after: send.done, age: age, send.send.eventID) ?? send.attempt
            send.phase = .asking
            sends[id] = send
            inFlight += 1
            actions.append(.ask(id, notificationID: send.send.notificationID))
        }
    }

    /// The most questions in flight. While the hub cannot be asked, it is one test question.
    var inFlightMax: Int { problem == nil || problem == .throttled ? settings.inFlightMax : 1 }

    /// Waits until the send's telemetry ends, or ends it if that time has passed.
    private mutating func wait(_ id: FollowedSendID, _ send: FollowedSend, at now: Moment) {
        let left = PollSchedule.end - send.age(at: now.wall)
        guard left <= .zero else {
            sends[id] = send
            return polls.add(id, at: now.steady + left)
        }
        end(id, send, Self.notAllowedFailure, at: now)
    }

    private static let notAllowedFailure = ResultRecord.Failure(
        code: "not-allowed", detail: "the hub does not tell what became of sends; that needs the Standard tier")

    // MARK: Answers

    mutating func answered(_ id: FollowedSendID, _ word: HubWord, at now: Moment) {
        inFlight = max(inFlight - 1, 0)
        learn(word, at: now)
        // An answer about a revoked partition still describes the state of the hub.
        guard var send = sends[id], case .asking = send.phase else { return }
        send.phase = .waiting
        switch word {
        case .details(let details):
            let isNews = details != send.details
            send.details = details
            answeredPoll(id, &send, isNews: isNews, at: now)
        case .nothing: answeredPoll(id, &send, isNews: false, at: now)
        case .refused(let status):
            end(id, send, .init(code: "status-\(status)", detail: "the hub refuses the question"), at: now)
        case .unreadable(let problem):
            guard send.attempt < PollSchedule.last else {
                return end(id, send, .init(code: "unreadable", detail: problem.description), at: now)
            }
            answeredPoll(id, &send, isNews: false, at: now)
        case .wait, .tokenRefused: again(id, send, at: now)
        case .notAllowed: wait(id, send, at: now)
        case .failed(let reason):
            send.failures += 1
            if send.age(at: now.wall) >= PollSchedule.end, send.failures >= Self.failuresMax {
                end(id, send, .init(code: "unanswered", detail: reason), at: now)
            } else {
                again(id, send, at: now)
            }
        }
    }

    /// Schedules the same poll again, as soon as questions are allowed.
    private mutating func again(_ id: FollowedSendID, _ send: FollowedSend, at now: Moment) {
        sends[id] = send
        polls.add(id, at: max(pace.pausedUntil, now.steady))
    }

    /// - Parameter isNews: true if the answer differs from the previous one.
    private mutating func answeredPoll(
        _ id: FollowedSendID, _ send: inout FollowedSend, isNews: Bool, at now: Moment
    ) {
        (send.done, send.failures) = (send.attempt, 0)
        if send.details?.state.isFinal == true { return end(id, send, nil, at: now) }
        let age = send.age(at: now.wall)
        if let next = PollSchedule.next(after: send.done, age: age, send.send.eventID) {
            if isNews { store(send.record(at: now.wall, attempt: send.done, isFinal: false), of: id, send) }
            send.attempt = next
            sends[id] = send
            let due = PollSchedule.age(of: next, send.send.eventID) - age
            polls.add(id, at: now.steady + max(due, .zero))
        } else {
            end(id, send, nil, at: now)
        }
    }

    // MARK: The hub as a whole

    private mutating func learn(_ word: HubWord, at now: Moment) {
        let wasProblem = problem
        switch word {
        case .details, .nothing, .refused, .unreadable:
            failures = 0
            // An answer to an earlier question does not end a pause that the hub requested.
            if wasProblem == .throttled {
                if pace.pausedUntil <= now.steady { problem = nil }
            } else if wasProblem != nil {
                problem = nil
                pace.resume()
                note(.info, "the hub answers again: telemetry continues")
            }
        case .wait(let duration):
            problem = .throttled
            failures = 0
            pace.pause(until: now.steady + min(max(duration, .seconds(1)), Self.waitMax))
        case .notAllowed:
            failures += 1
            problem = .notAllowed
            pace.pause(until: now.steady + Self.notAllowedPause)
            if wasProblem != .notAllowed {
                note(
                    .error,
                    "the hub does not tell what became of sends (403): telemetry needs a hub of the Standard tier, and a key "
                        + "that may read it. Nothing is asked any more, but for one try every ten minutes")
            }
        case .tokenRefused:
            actions.append(.renewToken)
            failures += 1
            // The token may have just expired.
            if failures > 1 {
                problem = .tokenRefused
                pace.pause(until: now.steady + Self.tokenPause)
                if wasProblem != .tokenRefused {
                    note(.error, "the hub refuses the key: copy hub.connectionString again, and check the clock")
                }
            }
        case .failed(let reason):
            failures += 1
            problem = .unreachable
            let pause = Duration.seconds(1 << min(failures - 1, 6))
            pace.pause(until: now.steady + min(pause, Self.failurePauseMax))
            if wasProblem != .unreachable { note(.warning, "the hub cannot be asked: \(reason)") }
        }
        figures.count(word.kind)
    }

    mutating func note(_ level: TelemetryNote.Level, _ text: String) {
        actions.append(.note(TelemetryNote(level: level, text: text)))
    }

    // MARK: Records

    /// Writes the send's last record and follows the send until the record is stored.
    private mutating func end(
        _ id: FollowedSendID, _ send: FollowedSend, _ error: ResultRecord.Failure?, at now: Moment
    ) {
        var send = send
        let record = send.record(at: now.wall, attempt: send.attempt, isFinal: true, error: error)
        send.phase = .ending(record)
        sends[id] = send
        store(record, of: id, send, isLast: true)
    }

    private mutating func store(
        _ record: TelemetryRecord, of id: FollowedSendID, _ send: FollowedSend, isLast: Bool = false
    ) {
        lastWrite += 1
        writes.updateValue(isLast ? id : nil, forKey: lastWrite)
        actions.append(.store(lastWrite, partition: send.partition, key: record.eventID, value: record.json))
    }

    mutating func stored(_ write: UInt64) {
        guard let last = writes.removeValue(forKey: write) else { return }
        figures.stored += 1
        guard let id = last, let send = sends.removeValue(forKey: id) else { return }
        partitions[send.partition]?.end(send.offset)
        if case .ending(let record) = send.phase { figures.count(record, tags: send.tags) }
    }

    /// The broker refuses the record permanently. The send ends without it.
    mutating func refused(_ write: UInt64) {
        guard let last = writes.removeValue(forKey: write) else { return }
        figures.refused += 1
        guard let id = last, let send = sends.removeValue(forKey: id) else { return }
        partitions[send.partition]?.end(send.offset)
    }

    mutating func notStored(_ write: UInt64, at now: Moment) {
        guard let last = writes.removeValue(forKey: write), let id = last, sends[id] != nil else { return }
        polls.add(id, at: now.steady + Self.writePause)
    }
}

extension HubWord {
    fileprivate var kind: TelemetryFigures.Answer {
        switch self {
        case .details: .details
        case .nothing: .nothing
        case .refused: .refused
        case .wait: .wait
        case .notAllowed: .notAllowed
        case .tokenRefused: .tokenRefused
        case .unreadable: .unreadable
        case .failed: .failed
        }
    }
}
