import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Simulation

/// Changes the JSON of every record that is handed over.
private func alterRecords(_ input: inout Input, _ change: (String) -> String) {
    guard case .kafka(.records(let lane, let generation, let partition, var records)) = input else { return }
    for index in records.indices {
        guard let value = records[index].value, let text = String(validating: value, as: UTF8.self) else { continue }
        records[index].value = Array(change(text).utf8)
    }
    input = .kafka(.records(lane, generation, partition, records))
}

/// Makes no two events the same for the engine.
struct ForgetsDuplicates: Interference {
    private var versions = 0

    mutating func alter(_ input: inout Input) {
        alterRecords(&input) { text in
            versions += 1
            return text.replacing("\"id\":\"event-", with: "\"id\":\"copy-\(versions)-event-")
        }
    }
}

/// Removes the mark of redriven records.
struct ForgetsRedrives: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .kafka(.records(let lane, let generation, let partition, var records)) = input else { return }
        for index in records.indices { records[index].headers.removeAll { $0.name == HeaderName.redrive } }
        input = .kafka(.records(lane, generation, partition, records))
    }
}

/// Takes recalls for news that is withheld.
struct IgnoresRecalls: Interference {
    mutating func alter(_ input: inout Input) {
        alterRecords(&input) { $0.replacing("\"status\":\"canceled\"", with: "\"status\":\"withheld\"") }
    }
}

/// Reads the clock on the wall once, at its start.
struct ReadsTheClockOnce: Interference {
    private var offset: Duration?
    private var last = Instant.distantPast

    mutating func alter(_ moment: inout Moment) {
        // Another process, or another run of one, counts from elsewhere.
        if moment.steady < last || moment.steady > last + .seconds(600) { offset = nil }
        last = moment.steady
        let known = offset ?? (moment.wall - moment.steady)
        offset = known
        moment.wall = moment.steady + known
    }
}

/// Reports a certain refusal as unknown.
struct DoubtsRefusals: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .replies(let arrivals) = input else { return }
        input = .replies(
            arrivals.map { arrival in
                guard case .replied(let reply) = arrival.reply, reply.status == 503 else { return arrival }
                return Arrival(request: arrival.request, reply: .unanswered(detail: "503"))
            })
    }
}

/// Makes the most urgent lane wait for its ledger for ever.
struct HoldsTheFirstLane: Interference {
    mutating func alter(_ input: inout Input) {
        if case .kafka(.restored(let lane, let generation, let results, _, _)) = input, lane.index == 0 {
            input = .kafka(
                .restoreFailed(
                    lane, generation, results: results,
                    KafkaFailure(code: "_WAIT", detail: "another lane's turn")))
        }
    }
}

/// A status that never gives a reason.
struct KeepsSilent: Interference {
    mutating func alter(_ reasons: WaitReasons) -> WaitReasons { .none }
}

/// Reads no versions.
struct ForgetsVersions: Interference {
    mutating func alter(_ input: inout Input) {
        alterRecords(&input) { $0.replacing("\"version\":", with: "\"edition\":") }
    }
}

/// Takes the time for an hour later than it is.
struct MistakesTheHour: Interference {
    mutating func alter(_ moment: inout Moment) { moment.wall = moment.wall + .seconds(3_600) }
}
