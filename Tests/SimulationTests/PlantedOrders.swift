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
