import EditorialControl
import KafkaModel
import NewsModel
import PublishEngine

/// G11 and the gates. What an order concerns leaves
/// - no process that has taken it, until the process has taken its end as well;
/// - no process that began after it stood on the topic;
/// - no process at all once every process that ran then has applied it.
///
/// Each process answers each order, and sooner or later has applied all of them.
struct OrdersObeyed: Checker {
    let promise: Promise
    private let isMine: (ControlScope) -> Bool
    private var book = OrderBook()

    static var recalls: Self { Self(promise: .recallsEverywhere) { $0.isRecall } }
    static var stops: Self { Self(promise: .stops) { !$0.isRecall } }

    private init(promise: Promise, isMine: @escaping (ControlScope) -> Bool) {
        self.promise = promise
        self.isMine = isMine
    }

    mutating func check(_ fact: Fact, _ truth: GroundTruth) -> String? {
        book.note(fact, truth)
        switch fact {
        case .sent(let number, let address, _): return sent(number, address, truth)
        case .acted(let address, _):
            return book.takeUnanswered(address).first(where: { isMine($0) }).map {
                "process \(address.process) took \($0.key) and did not say that it applied it"
            }
        case .over(isSettled: true, _):
            for (scope, standing) in book.standing.sorted(by: { $0.key.key < $1.key.key }) where isMine(scope) {
                guard let missing = standing.missing.min(by: { $0.process < $1.process }) else { continue }
                return "process \(missing.process) never applied \(standing.id) (\(scope.key))"
            }
        default: break
        }
        return nil
    }

    private func sent(_ number: Int, _ address: Address, _ truth: GroundTruth) -> String? {
        guard !book.isEmpty else { return nil }
        let delivery = truth.attempts[number].delivery
        let news = truth.news(of: delivery)
        func concerns(_ scope: ControlScope) -> Bool {
            isMine(scope) && scope.concerns(news, in: truth.scenario.setting)
        }
        if let scope = book.taken[address]?.keys.filter(concerns).min(by: { $0.key < $1.key }) {
            return "\(truth.name(delivery)) left process \(address.process), which knew of \(scope.key)"
        }
        for (scope, standing) in book.standing.sorted(by: { $0.key.key < $1.key.key }) where concerns(scope) {
            let mayBeAlone = truth.scenario.setting.onStale == .continue && !book.thawed.contains(address)
            if standing.isAcknowledged, !mayBeAlone || !standing.isAlone(address) {
                return "\(truth.name(delivery)) left after all had applied \(standing.id) (\(scope.key))"
            }
            if let start = book.started[address], start > standing.at {
                return "\(truth.name(delivery)) left a process that began while \(scope.key) stood"
            }
        }
        return nil
    }
}

/// Who knows of which order.
struct OrderBook {
    private(set) var standing: [ControlScope: Standing] = [:]
    /// By process: the orders that it has taken.
    private(set) var taken: [Address: [ControlScope: Taken]] = [:]
    private(set) var started: [Address: Instant] = [:]
    /// Processes that stood still and have not looked at the topic since: they cannot know that they are cut off from it.
    private(set) var thawed: Set<Address> = []
    /// By process: when an order that it had taken was lifted there, or had lapsed.
    private var liftedAt: [Address: [ControlScope: Instant]] = [:]
    /// When the last beat of each process came to stand on the topic: whoever gives an order waits for those whose beat is recent.
    private var heard: [Address: Instant] = [:]
    /// By process: the orders that it has applied, maybe before they stood, because an event of its own gave them.
    private var applied: [Address: Set<Answer>] = [:]
    private var unanswered: [Address: [String: ControlScope]] = [:]
    /// Every order that ever stood on the topic.
    private var known: Set<Order> = []
    /// The furthest that a clock on a wall has been ahead.
    private var ahead = Duration.zero
    private let forgetsLapsed: Bool
    /// The control topic as whoever gives orders reads it, by `newswire stop` for one.
    private var view = ControlView()

    /// - Parameter forgetsLapsed: orders count only until the first clock says that they have lapsed.
    init(forgetsLapsed: Bool = true) { self.forgetsLapsed = forgetsLapsed }

    struct Standing {
        var id: String
        var at: Instant
        var until: Instant?
        /// Those that ran when it came, and have not applied it.
        var missing: Set<Address>
        /// It stood there before. Nobody waits for answers to what a process has written again, so processes may not give any.
        var isWrittenAgain: Bool
        /// Those that had not been heard of for long when it came, by true time and as whoever gave it was told: one of them that
        /// is cut off, and goes on without the topic, sends what it has read.
        var silent: Set<Address>
        var unheard: Set<String> = []
        /// What whoever gave it knows of its answers. Clocks that disagree must not make it believe too much.
        var answers: OrderAnswers

        /// Every process obeys it, or whoever gave it was told so.
        var isAcknowledged: Bool { missing.isEmpty || answers.isComplete }

        /// It did not count when the order came.
        func isAlone(_ address: Address) -> Bool {
            unheard.contains(address.replica) || !answers.isComplete && silent.contains(address)
        }
    }

    /// The id alone does not name an order: that of an event's recall is a place on a topic, and a topic that is made again has its
    /// places again.
    private struct Answer: Hashable {
        var scope: String
        var order: String

        init(_ scope: String, _ order: String) { (self.scope, self.order) = (scope, order) }
    }

    struct Taken {
        var order: Order
        var at: Instant
    }

    var isEmpty: Bool { standing.isEmpty && taken.isEmpty }

    mutating func note(_ fact: Fact, _ truth: GroundTruth) {
        switch fact {
        case .started(let address): started[address] = truth.now
        case .died(let address):
            started[address] = nil
            thawed.remove(address)
            taken[address] = nil
            liftedAt[address] = nil
            unanswered[address] = nil
            applied[address] = nil
            heard[address] = nil
            for scope in standing.keys { standing[scope]?.missing.remove(address) }
        case .controlled(let row):
            switch row.meaning {
            case .stands(let order):
                standing[order.scope] = Standing(
                    id: order.id, at: truth.now, until: order.until,
                    missing: Set(heard.filter { isWaitedFor($0.key, order, truth.now) }.keys),
                    isWrittenAgain: !known.insert(order).inserted,
                    silent: Set(started.keys.filter { !isWaitedFor($0, order, truth.now) }),
                    answers: OrderAnswers(
                        to: Instruction(id: order.id, scope: order.scope, at: order.at, by: order.by)))
            case .lifted(let scope): standing[scope] = nil
            case .beat(let beat):
                if let address = started.keys.first(where: { $0.replica == beat.replica }) {
                    heard[address] = truth.now
                }
            default: break
            }
            if let meaning = view.take(row.record) {
                for scope in standing.keys { standing[scope]?.answers.take(meaning, view.signs) }
                if case .stands(let order) = row.meaning {
                    let unheard = standing[order.scope]?.answers.unheard ?? []
                    standing[order.scope]?.unheard = Set(unheard.map(\.beat.replica))
                }
            }
        // Processes that know it write it again; where none runs, nobody knows it any more.
        case .orderLost(let scope): standing[scope] = nil
        case .clockStepped(_, let size, let wallBefore): ahead = max(ahead, wallBefore + size - truth.now)
        case .thawed(let address): thawed.insert(address)
        case .input(let address, .ordersConfirmed): thawed.remove(address)
        case .input(let address, .orders(let changes)):
            for change in changes { take(change, address, truth.now) }
        case .applied(let address, let applied):
            if let scope = unanswered[address]?.removeValue(forKey: applied.order),
                standing[scope]?.isWrittenAgain == true
            {
                standing[scope]?.missing.remove(address)
            }
        case .audited(let address, let entry):
            for scope in standing.keys { standing[scope]?.answers.take(entry) }
            guard let name = entry.applied?.order else { return }
            applied[address, default: []].insert(Answer(entry.scope, name))
            for (scope, order) in standing where order.id == name && scope.key == entry.scope {
                standing[scope]?.missing.remove(address)
            }
        case .sent where forgetsLapsed, .over where forgetsLapsed: forgetLapsed(truth.now)
        default: break
        }
    }

    private func isWaitedFor(_ address: Address, _ order: Order, _ now: Instant) -> Bool {
        guard let beat = heard[address], now - beat <= ControlRecord.Beat.countsFor else { return false }
        // An order that is written again asks nothing of those who obey it.
        if taken[address]?[order.scope]?.order == order { return false }
        return applied[address]?.contains(Answer(order.scope.key, order.id)) != true
    }

    private mutating func take(_ change: OrderChange, _ address: Address, _ now: Instant) {
        switch change {
        case .stands(let order):
            taken[address, default: [:]][order.scope] = Taken(order: order, at: now)
            unanswered[address, default: [:]][order.id] = order.scope
        case .lifted(let scope):
            if taken[address]?.removeValue(forKey: scope) != nil { liftedAt[address, default: [:]][scope] = now }
            unanswered[address, default: [:]][scope.key] = scope
        }
    }

    /// Tells if the process obeyed an order of this scope at the time, or later.
    func obeyed(_ scope: ControlScope, _ address: Address, after time: Instant) -> Bool {
        taken[address]?[scope] != nil || liftedAt[address]?[scope].map { $0 >= time } ?? false
    }

    /// By the scopes' keys.
    mutating func takeUnanswered(_ address: Address) -> [ControlScope] {
        (unanswered.removeValue(forKey: address) ?? [:]).values.sorted { $0.key < $1.key }
    }

    /// Any process may take one for lapsed, and lift it for all, as soon as its own clock says so.
    private mutating func forgetLapsed(_ now: Instant) {
        func isLapsed(_ until: Instant?) -> Bool { until.map { $0 <= now + ahead } ?? false }
        guard
            standing.values.contains(where: { isLapsed($0.until) })
                || taken.values.contains(where: { $0.values.contains { isLapsed($0.order.until) } })
        else { return }
        standing = standing.filter { !isLapsed($0.value.until) }
        for address in taken.keys { taken[address] = taken[address]?.filter { !isLapsed($0.value.order.until) } }
    }
}
