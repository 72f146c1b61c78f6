import NewsModel
import NotificationHub
import PublishEngine
import Simulation

/// Commits one record more than is stored.
struct CommitsOneEarly: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .commit(let lane, let generation, var offsets) = actions[index] else { continue }
            for offset in offsets.indices where offsets[offset].partition.topic != "results" {
                offsets[offset].offset += 1
            }
            actions[index] = .commit(lane: lane, generation: generation, offsets: offsets)
        }
        return []
    }
}

/// Forgets the ledger's own offset one result too early.
struct MovesTheLedgerTooFar: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .commit(let lane, let generation, var offsets) = actions[index] else { continue }
            for offset in offsets.indices where offsets[offset].partition.topic == "results" {
                offsets[offset].offset += 1_000
            }
            actions[index] = .commit(lane: lane, generation: generation, offsets: offsets)
        }
        return []
    }
}

/// Never writes every tenth result, and says it did.
struct DropsAResult: Interference {
    private var count = 0
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        actions.removeAll { action in
            guard case .store(let request) = action else { return false }
            count += 1
            guard count % 10 == 0 else { return false }
            let tokens = [request.token] + (request.deadLetter.map { [$0.token] } ?? [])
            answers.append(.stored(tokens.map { Acknowledgement(token: $0, offset: 0) }))
            return true
        }
        return answers
    }
}

/// Writes every result twice.
struct WritesResultsTwice: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions = actions.flatMap { action -> [Action] in
            if case .store = action { [action, action] } else { [action] }
        }
        return []
    }
}

/// Keeps a commit of one generation and sends it in the next.
struct IgnoresGenerations: Interference {
    private var kept: [CommitOffset] = []
    private var current: (lane: Int, generation: Int)?
    private var isDue = false

    mutating func alter(_ input: inout Input) {
        guard case .assigned(let lane, let generation, _) = input, lane == 0 else { return }
        isDue = current != nil && generation > 1
        current = (lane, generation)
    }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for action in actions {
            if case .commit(0, _, let offsets) = action, kept.isEmpty { kept = offsets }
        }
        if isDue, let current, !kept.isEmpty {
            isDue = false
            actions.append(.commit(lane: current.lane, generation: current.generation, offsets: kept))
        }
        return []
    }
}

/// Every token lets two requests through.
struct LeaksTokens: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions = actions.flatMap { action -> [Action] in
            if case .send(_, let request) = action { [action, .send(token: .max, request)] } else { [action] }
        }
        return []
    }
}

/// Lets the first request of a story leave behind the second, having said that it was accepted.
struct ReordersAStory: Interference {
    private var held: [String: SendRequest] = [:]
    private var seen: Set<String> = []

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        var changed: [Action] = []
        for action in actions {
            guard case .send(let token, let request) = action,
                let story = request.fields.first(where: { $0.name == "apns-collapse-id" })?.value
            else {
                changed.append(action)
                continue
            }
            if seen.insert(story).inserted {
                held[story] = request
                answers.append(.reply(token: token, .replied(HubReply(status: 201))))
            } else {
                changed.append(action)
                if let late = held.removeValue(forKey: story) { changed.append(.send(token: .max, late)) }
            }
        }
        actions = changed
        return answers
    }
}

/// Lets more be read than the window holds.
struct GrowsTheWindow: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions = actions.map { action in
            guard case .grant(let lane, let records, let bytes) = action else { return action }
            return .grant(lane: lane, records: records * 4, bytes: bytes * 4)
        }
        return []
    }
}

/// Gives partitions up at once, whatever is under way.
struct ReleasesAtOnce: Interference {
    private var due: (lane: Int, generation: Int)?

    mutating func alter(_ input: inout Input) {
        if case .revoked(let lane, let generation, _, lost: false) = input { due = (lane, generation) }
    }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        guard let due else { return [] }
        self.due = nil
        actions.append(.release(lane: due.lane, generation: due.generation))
        return []
    }
}

/// Says `accepted` of what was rejected.
struct ReportsWishes: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions = actions.map { action in
            guard case .store(let request) = action, request.result.outcome != .accepted else { return action }
            var result = request.result
            result.outcome = .accepted
            return .store(
                StoreRequest(
                    token: request.token, result: result, version: request.version, carried: request.carried,
                    deadLetter: request.deadLetter))
        }
        return []
    }
}

/// Takes a refused key for the event's fault.
struct BlamesTheEvent: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .replies(let landings) = input, let token = landings.first?.token,
            case .replied(let reply)? = landings.first?.reply, [401, 403, 404].contains(reply.status)
        else {
            return
        }
        input = .reply(token: token, .replied(HubReply(status: 400)))
    }
}

/// Never lets a partition be read.
struct NeverResumes: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions.removeAll { if case .resume = $0 { true } else { false } }
        return []
    }
}

/// Wants to be woken all the time.
struct Spins: Interference {
    mutating func alter(wakeAt: inout Instant?, now: Instant) { wakeAt = now }
}

/// Tells the engine that no news is ever the same.
struct ForgetsDuplicates: Interference {
    private var versions = 0

    mutating func alter(_ input: inout Input) {
        guard case .records(let lane, let generation, let partition, var records) = input else { return }
        for index in records.indices {
            guard let value = records[index].value, let text = String(validating: value, as: UTF8.self) else {
                continue
            }
            versions += 1
            let id = "\"id\":\"event-"
            records[index].value = Array(text.replacing(id, with: "\"id\":\"copy-\(versions)-event-").utf8)
        }
        input = .records(lane: lane, generation: generation, partition: partition, records: records)
    }
}
