import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine
import Simulation

/// Says of some orders that they are applied, and does nothing about them.
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

/// Goes on after a standstill as if no time had passed.
struct IgnoresStandstills: Interference {
    mutating func alter(_ input: inout Input) { if case .stoodStill = input { input = .alarm } }
}

/// Does not say that it has applied orders.
struct KeepsQuietAboutOrders: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        actions.removeAll { if case .applied = $0 { true } else { false } }
        return []
    }
}

/// Takes the orders in force for known as soon as it looks at the clock.
struct WaitsForNoOrders: Interference {
    mutating func alter(_ input: inout Input) {
        if case .alarm = input { input = .ordersKnown(true) }
    }
}

/// Says of all that was accepted that it left before a recall.
struct InventsRecalls: Interference {
    mutating func alter(_ actions: inout [Action]) -> [Input] {
        alterResults(&actions) { $0.afterRecall = $0.outcome == .accepted }
        return []
    }
}

/// Says that the originals are on the held topic, and writes none.
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

/// Takes the end of an embargo for earlier than it is.
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
