import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Simulation

/// Changes the JSON of every delivered record.
private func alterRecords(_ input: inout Input, _ change: (String) -> String) {
    guard case .kafka(.records(let lane, let generation, let partition, var records)) = input else { return }
    for index in records.indices {
        guard let value = records[index].value, let text = String(validating: value, as: UTF8.self) else { continue }
        records[index].value = Array(change(text).utf8)
    }
    input = .kafka(.records(lane, generation, partition, records))
}

/// Gives every record a unique event id.
struct ForgetsDuplicates: Interference {
    private var versions = 0

    mutating func alter(_ input: inout Input) {
        alterRecords(&input) { text in
            versions += 1
            return text.replacing("\"id\":\"event-", with: "\"id\":\"copy-\(versions)-event-")
        }
    }
}

/// Removes the header of redriven records.
struct ForgetsRedrives: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .kafka(.records(let lane, let generation, let partition, var records)) = input else { return }
        for index in records.indices { records[index].headers.removeAll { $0.name == HeaderName.redrive } }
        input = .kafka(.records(lane, generation, partition, records))
    }
}

/// Sends every redriven record, also of two that repeat the same delivery.
struct ForgetsWhatIsRepeated: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .kafka(.records(let lane, let generation, let partition, var records)) = input else { return }
        for index in records.indices { records[index].headers.removeAll { $0.name == HeaderName.redriveOf } }
        input = .kafka(.records(lane, generation, partition, records))
    }
}

/// Treats recalls as withheld news.
struct IgnoresRecalls: Interference {
    mutating func alter(_ input: inout Input) {
        alterRecords(&input) { $0.replacing("\"status\":\"canceled\"", with: "\"status\":\"withheld\"") }
    }
}

/// Reads the wall clock once, at its start.
struct ReadsTheClockOnce: Interference {
    private var offset: Duration?
    private var last = Instant.distantPast

    mutating func alter(_ moment: inout Moment) {
        // Another process, or another run of one, has a different start time.
        if moment.steady < last || moment.steady > last + .seconds(600) { offset = nil }
        last = moment.steady
        let known = offset ?? (moment.wall - moment.steady)
        offset = known
        moment.wall = moment.steady + known
    }
}

/// Reports a certain refusal as an unanswered request.
struct DoubtsRefusals: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .replies(let settled) = input else { return }
        input = .replies(
            settled.map { request in
                guard request.result.reply?.status == 503 else { return request }
                return SettledRequest(id: request.id, result: .unknown(SendFailure(.reset, "503")))
            })
    }
}

/// Lets the most urgent lane wait for its ledger forever.
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

/// Omits all reasons from the status.
struct KeepsSilent: Interference {
    mutating func alter(_ reasons: WaitReasons) -> WaitReasons { WaitReasons() }
}

/// Reports no lost lines of a log.
struct HidesLostLines: Interference {
    mutating func alter(lost: inout Int) { lost = 0 }
}

/// Never reports the records that retention removed before they were read.
struct HidesRemovals: Interference {
    mutating func alter(removed: inout [RemovedRecords]) { removed = [] }
}

/// Removes the versions of all events.
struct ForgetsVersions: Interference {
    mutating func alter(_ input: inout Input) {
        alterRecords(&input) { $0.replacing("\"version\":", with: "\"edition\":") }
    }
}

/// Sets the wall clock ahead by an hour.
struct MistakesTheHour: Interference {
    mutating func alter(_ moment: inout Moment) { moment.wall = moment.wall + .seconds(3_600) }
}
