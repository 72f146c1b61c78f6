import HubModel
import KafkaModel
import NewsModel
import NotificationHub
import PublishEngine
import Simulation

/// Changes the offsets of requested commits.
private func alterCommits(_ actions: inout [Action], _ change: (inout PartitionOffset) -> Void) {
    for index in actions.indices {
        guard case .kafka(.commit(let lane, let generation, var offsets)) = actions[index] else { continue }
        for offset in offsets.indices { change(&offsets[offset]) }
        actions[index] = .kafka(.commit(lane, generation, offsets))
    }
}

/// Changes results before they are written.
func alterResults(_ actions: inout [Action], _ change: (inout ResultRecord) -> Void) {
    for index in actions.indices {
        guard case .store(let request) = actions[index] else { continue }
        var result = request.result
        change(&result)
        actions[index] = .store(
            StoreRequest(
                delivery: request.delivery, result: result, version: request.version, story: request.ledgerStory,
                identity: request.identity, carried: request.carried))
    }
}

/// Commits one record more than is stored.
struct CommitsOneEarly: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        alterCommits(&actions) { if $0.partition.topic != "results" { $0.offset += 1 } }
        return []
    }
}

/// Commits the ledger's offset too far by 1,000.
struct MovesTheLedgerTooFar: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        alterCommits(&actions) { if $0.partition.topic == "results" { $0.offset += 1_000 } }
        return []
    }
}

/// Drops every tenth result and reports it as stored.
struct DropsAResult: Interference {
    private var count = 0
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        actions.removeAll { action in
            guard case .store(let request) = action else { return false }
            count += 1
            guard count % 10 == 0 else { return false }
            answers.append(
                .kafka(.stored([StoredRecord(delivery: request.delivery, kind: .result, offset: 0)])))
            return true
        }
        return answers
    }
}

/// Drops all dead letters and reports them as stored.
struct ForgetsDeadLetters: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        actions.removeAll { action in
            guard case .storeDeadLetter(let request, _) = action else { return false }
            answers.append(
                .kafka(.stored([StoredRecord(delivery: request.delivery, kind: .deadLetter, offset: 0)])))
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

/// Keeps a commit of one generation and sends it in a later one.
struct IgnoresGenerations: Interference {
    private var kept: [PartitionOffset] = []
    private var current: (lane: LaneID, generation: Generation)?
    private var isDue = false

    mutating func alter(_ input: inout Input) {
        guard case .kafka(.assigned(let lane, let generation, _)) = input, lane.index == 0 else { return }
        isDue = current != nil && generation.number > 1
        current = (lane, generation)
    }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for action in actions {
            if case .kafka(.commit(let lane, _, let offsets)) = action, lane.index == 0, kept.isEmpty { kept = offsets }
        }
        if isDue, let current, !kept.isEmpty {
            isDue = false
            actions.append(.kafka(.commit(current.lane, current.generation, kept)))
        }
        return []
    }
}

/// Remembers the tags of the first send with each body.
private struct FirstSends {
    private var tags: [[UInt8]: String] = [:]

    /// The tags of the first send; `nil` if this is the first, or a repetition of it.
    mutating func first(of request: SendRequest) -> String? {
        guard let first = tags[request.body] else {
            tags[request.body] = request.tags
            return nil
        }
        return first == request.tags ? nil : first
    }
}

/// Sends an event for the readers of several sends to the first ones each time.
struct SendsToTheFirst: Interference {
    private var sends = FirstSends()

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .send(let id, var request) = actions[index], let first = sends.first(of: request) else {
                continue
            }
            request.tags = first
            actions[index] = .send(id, request)
        }
        return []
    }
}

/// Starts a delivery again that a former owner has sent to some of its readers.
struct ForgetsProgress: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .kafka(.restored(let lane, let generation, let results, let entries, var end?)) = input else {
            return
        }
        end.progress = [:]
        input = .kafka(.restored(lane, generation, results: results, entries: entries, end: end))
    }
}

/// Commits offsets without the progress of deliveries.
struct CommitsNoProgress: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .kafka(.commit(let lane, let generation, let offsets)) = actions[index] else { continue }
            let bare = offsets.map { PartitionOffset($0.partition, $0.offset) }
            actions[index] = .kafka(.commit(lane, generation, bare))
        }
        return []
    }
}

/// Reports the later sends of an event as accepted without making them.
struct SendsOnce: Interference {
    private var sends = FirstSends()

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        actions.removeAll { action in
            guard case .send(let id, let request) = action, sends.first(of: request) != nil else { return false }
            answers.append(.reply(.replied(HubReply(status: 201)), to: id))
            return true
        }
        return answers
    }
}

/// Sends every request twice for one token.
struct LeaksTokens: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions = actions.flatMap { action -> [Action] in
            if case .send(_, let request) = action {
                [action, .send(RequestID(rawValue: .max), request)]
            } else {
                [action]
            }
        }
        return []
    }
}

/// Sends the first request of a story after the second, although it has reported the first as accepted.
struct ReordersAStory: Interference {
    private var held: [String: SendRequest] = [:]
    private var seen: Set<String> = []

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        var changed: [Action] = []
        for action in actions {
            guard case .send(let id, let request) = action,
                let story = request.fields.first(where: { $0.name == "apns-collapse-id" })?.value
            else {
                changed.append(action)
                continue
            }
            if seen.insert(story).inserted {
                held[story] = request
                answers.append(.reply(.replied(HubReply(status: 201)), to: id))
            } else {
                changed.append(action)
                if let late = held.removeValue(forKey: story) {
                    changed.append(.send(RequestID(rawValue: .max), late))
                }
            }
        }
        actions = changed
        return answers
    }
}

/// Grants four times the records and bytes of the window.
struct GrowsTheWindow: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions = actions.map { action in
            guard case .kafka(.grant(let lane, let records, let bytes)) = action else { return action }
            return .kafka(.grant(lane, records: records * 4, bytes: bytes * 4))
        }
        return []
    }
}

/// Releases partitions at once, with work in flight.
struct ReleasesAtOnce: Interference {
    private var due: (lane: LaneID, generation: Generation)?

    mutating func alter(_ input: inout Input) {
        if case .kafka(.revoked(let lane, let generation, _, lost: false)) = input { due = (lane, generation) }
    }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        guard let due else { return [] }
        self.due = nil
        actions.append(.kafka(.release(due.lane, due.generation)))
        return []
    }
}

/// Reports every result as `accepted`.
struct ReportsWishes: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        alterResults(&actions) { $0.outcome = .accepted }
        return []
    }
}

/// Reports unknown outcomes as canceled.
struct ReportsGuesses: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .storeDeadLetter(let request, _) = actions[index], request.result.outcome == .unknown else {
                continue
            }
            var result = request.result
            result.outcome = .canceled
            actions[index] = .store(
                StoreRequest(
                    delivery: request.delivery, result: result, version: request.version, story: request.ledgerStory,
                    identity: request.identity, carried: request.carried))
        }
        return []
    }
}

/// Treats a refused key as a fault of the event.
struct BlamesTheEvent: Interference {
    mutating func alter(_ input: inout Input) {
        guard case .replies(let settled) = input, let first = settled.first,
            let status = first.result.reply?.status, [401, 403, 404].contains(status)
        else { return }
        input = .reply(.replied(HubReply(status: 400)), to: first.id)
    }
}

/// Never resumes a partition.
struct NeverResumes: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions.removeAll { if case .kafka(.resume) = $0 { true } else { false } }
        return []
    }
}

/// Always requests to be woken at once.
struct Spins: Interference {
    mutating func alter(wakeAt: inout Instant?, now: Instant) { wakeAt = now }
}

/// Writes every request of a connection again after GOAWAY.
struct RepeatsAfterGoAway: Interference {
    mutating func alter(refused: inout [RequestSlot], of all: [RequestSlot]) { refused = all }
}

/// Sends every request twice, through a pool that takes twice as many.
struct WidensThePool: Interference {
    mutating func alter(_ limits: inout SenderLimits) { limits = SenderLimits(connections: limits.connections * 2) }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var leak = LeaksTokens()
        return leak.alter(&actions)
    }
}

/// Lets requests wait for a connection without a limit.
struct WaitsForConnections: Interference {
    mutating func alter(_ limits: inout SenderLimits) { limits.waitingTimeout = nil }
}
