import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine
import Simulation

/// Reports some orders as applied without obeying them.
struct IgnoresOrders: Interference {
    private let isIgnored: (ControlScope) -> Bool
    private var unanswered: [AppliedOrder] = []

    private init(_ isIgnored: @escaping (ControlScope) -> Bool) { self.isIgnored = isIgnored }

    static var recalls: Self { Self { if case .recall = $0 { true } else { false } } }
    static var stops: Self { Self { if case .stop = $0 { true } else { false } } }

    mutating func alter(_ input: inout Input) {
        guard case .orders(let changes) = input else { return }
        for case .stands(let order) in changes where isIgnored(order.scope) {
            unanswered.append(AppliedOrder(order: order.id))
        }
        input = .orders(
            changes.filter { change in
                if case .stands(let order) = change { !isIgnored(order.scope) } else { true }
            })
    }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions += unanswered.map(Action.applied)
        unanswered = []
        return []
    }
}

/// Continues after a standstill as if no time had passed.
struct IgnoresStandstills: Interference {
    mutating func alter(_ input: inout Input) { if case .stoodStill = input { input = .alarm } }
}

/// Never reports orders as applied.
struct KeepsQuietAboutOrders: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions.removeAll { if case .applied = $0 { true } else { false } }
        return []
    }
}

/// Reports that orders met no requests in flight.
struct CountsNoRequests: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .applied(var order) = actions[index] else { continue }
            order.inFlight = 0
            actions[index] = .applied(order)
        }
        return []
    }
}

/// Assumes at the first alarm that the orders in force are known.
struct WaitsForNoOrders: Interference {
    mutating func alter(_ input: inout Input) {
        if case .alarm = input { input = .ordersKnown(true) }
    }
}

/// Reports that all accepted results left before a recall.
struct InventsRecalls: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        alterResults(&actions) { $0.afterRecall = $0.outcome == .accepted }
        return []
    }
}

/// Reports originals as stored on the held topic without writing them.
struct LosesHeldEvents: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        var answers: [Input] = []
        actions.removeAll { action in
            guard case .hold(let request, _, _) = action else { return false }
            answers.append(.kafka(.stored([StoredRecord(delivery: request.delivery, kind: .held, offset: 0)])))
            return true
        }
        return answers
    }
}

/// Shortens holds by 400 ms.
struct HoldsTooShort: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        for index in actions.indices {
            guard case .hold(let request, let original, var event) = actions[index] else { continue }
            event.due = event.due - .milliseconds(400)
            actions[index] = .hold(request, original, event)
        }
        return []
    }
}

/// Changes the headers of replacements before an engine reads them.
private func alterReplacements(_ input: inout Input, _ change: (inout [RecordHeader]) -> Void) {
    guard case .kafka(.records(let lane, let generation, let partition, var records)) = input else { return }
    for index in records.indices where records[index].headers.contains(where: { $0.name == HeaderName.replacement }) {
        change(&records[index].headers)
    }
    input = .kafka(.records(lane, generation, partition, records))
}

/// Sends replacements to all platforms.
struct ForgetsPlatforms: Interference {
    mutating func alter(_ input: inout Input) {
        alterReplacements(&input) { headers in headers.removeAll { $0.name == HeaderName.platform } }
    }
}

/// Reads replacements as news of the recalled story.
struct ForgetsReplacements: Interference {
    mutating func alter(_ input: inout Input) {
        alterReplacements(&input) { headers in headers.removeAll { $0.name == HeaderName.replacement } }
    }
}

/// Forgets the stops of categories when the settings are read again.
struct ForgetsRenamedStops: Interference {
    private var stopped: Set<ControlScope> = []
    private var isForgotten = false

    mutating func alter(_ input: inout Input) {
        switch input {
        case .orders(let changes):
            for case .stands(let order) in changes {
                if case .stop(.category) = order.scope { stopped.insert(order.scope) }
            }
        case .reload: isForgotten = true
        default: break
        }
    }

    mutating func alter(_ actions: inout [Action]) -> [Input] {
        guard isForgotten else { return [] }
        isForgotten = false
        defer { stopped = [] }
        return stopped.isEmpty ? [] : [.orders(stopped.map { .lifted($0) })]
    }
}
