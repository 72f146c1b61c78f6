import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine

/// G3: nothing is sent twice, with two exceptions. One is a request in flight without a stored result or a committed progress
/// when its owner crashed or lost the partition. The other is a delivery without a clear answer in a lane that retries.
struct Repeats: Checker {
    let promise = Promise.repeats
    /// Commits of a lane that failed in a row, by process. After three of them, deliveries go on without committed progress.
    private var failed: [Address: [LaneID: Int]] = [:]
    private var goesOn: Set<Address> = []

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        if case .input(let address, .kafka(.committed(let lane, _, _, let failure))) = fact {
            let count = failure == nil ? 0 : (failed[address]?[lane] ?? 0) + 1
            failed[address, default: [:]][lane] = count
            if count >= 3 { goesOn.insert(address) }
        }
        guard case .sent(let number, _, _) = fact else { return nil }
        let attempt = truth.attempts[number]
        let name = truth.name(attempt.delivery)
        guard attempt.ownership >= 0, truth.ownerships[attempt.ownership].isRestored else {
            return "\(name) was sent by one that does not have its partition"
        }
        let known = truth.resultsOf[attempt.delivery].first {
            truth.ownerships[attempt.ownership].knows($0, as: attempt.ownership)
        }
        if let known { return "\(name) was sent, but it had ended as \(known.outcome.rawValue)" }
        if let problem = repeatsProgress(attempt, truth) { return "\(name) \(problem)" }
        for earlier in truth.attemptsOf[attempt.delivery] where earlier != number {
            guard truth.attempts[earlier].ownership == attempt.ownership else { continue }
            guard let reply = truth.attempts[earlier].reply else { return "\(name) is under way twice at once" }
            // The next send of the delivery, to other readers.
            let hasOtherTags = truth.attempts[earlier].tags != attempt.tags
            let isNext = hasOtherTags && truth.news(of: attempt.delivery).sends > 1
            switch reply.meaning {
            case .accepted where hasOtherTags: break
            case .refusedEvent where isNext, .unknownAcceptance where isNext: break
            case .accepted: return "\(name) was sent again after it was accepted"
            case .refusedEvent, .invalid: return "\(name) was sent again after it was rejected"
            case .unknownAcceptance:
                if truth.scenario.setting.lanes[truth.ownerships[attempt.ownership].lane].onUnknown == .giveUp {
                    return "\(name) was sent again although its lane gives up"
                }
            case .busy, .connectionLost, .unreachable, .tokenRefused, .forbidden, .missingHub, .certificate: break
            }
        }
        return nil
    }

    /// Each send of a delivery leaves only after the end of the one before is committed, and none leaves whose end was committed.
    private func repeatsProgress(_ attempt: Attempt, _ truth: GroundTruth) -> String? {
        let ownership = truth.ownerships[attempt.ownership]
        guard truth.news(of: attempt.delivery).sends > 1, truth.scenario.setting.rename == nil,
            let place = truth.places[truth.item(of: attempt.delivery)], !place.isGone, !ownership.isEnding
        else { return nil }
        func sends(in progress: [SendProgress]) -> Int {
            let platform = truth.platform(of: attempt.delivery)
            return Int(progress.first { $0.offset == place.offset && $0.platform == platform }?.sends ?? 0)
        }
        let former = truth.sends(of: attempt.delivery, byOthersThan: attempt.ownership)
        if former.prefix(sends(in: ownership.progress)).contains(where: { $0.tags == attempt.tags }) {
            return "was sent again to readers whose send was committed as done"
        }
        let own = Set(
            truth.attemptsOf[attempt.delivery].map { truth.attempts[$0] }
                .filter { $0.ownership == attempt.ownership && $0.reply?.meaning == .accepted }.map(\.tags))
        let note = truth.committed[ownership.lane][ownership.partition]?.note
        guard !own.isEmpty, !own.contains(attempt.tags), !goesOn.contains(ownership.address),
            sends(in: note.map(CommitNote.progress) ?? []) < own.count,
            // The note of a later owner tells nothing about this one.
            !truth.ownerships[attempt.ownership...].dropFirst().contains(where: {
                $0.lane == ownership.lane && $0.partition == ownership.partition
            })
        else { return nil }
        return "was sent on before the end of its last send was committed"
    }
}

extension GroundTruth {
    /// A delivery's sends by other owners in their order, each with its most certain attempt. All but the last are done. An owner that
    /// has lost its partition without noticing may read the progress of the one that has it.
    func sends(of delivery: Int, byOthersThan ownership: Int?) -> [Attempt] {
        var sends: [Attempt] = []
        for attempt in attemptsOf[delivery].map({ attempts[$0] }) where attempt.ownership != ownership {
            guard let known = sends.firstIndex(where: { $0.tags == attempt.tags }) else {
                sends.append(attempt)
                continue
            }
            // A former owner may have died before it reported a refusal.
            if attempt.isAccepted || attempt.isRefused && !sends[known].isAccepted { sends[known] = attempt }
        }
        return sends
    }
}
