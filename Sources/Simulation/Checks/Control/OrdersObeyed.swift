import EditorialControl
import NewsModel
import PublishEngine

/// G11 and the gates. Deliveries affected by an order do not leave
/// - a process that has received the order, until it has received its end;
/// - a process that started while the order was on the topic;
/// - any process, once every process that ran when the order arrived has applied it.
///
/// A process that starts after orders were removed from the topic waits for those that know them.
///
/// Each process answers each order, and applies all of them eventually. A process writes the orders that it obeys again if their
/// records are removed, or endangered by the tombstone of an earlier order. In the end each process obeys the orders in force.
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
        let blind = book.startsBlind(fact, truth.now).first(where: { isMine($0) })
        book.note(fact, truth)
        if let blind { return "a process began without \(blind.key), which another one obeys" }
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
            for scope in book.standing.keys.sorted(by: { $0.key < $1.key }) where isMine(scope) {
                if let process = book.disobedient(scope, truth.now) {
                    return "process \(process) does not obey \(scope.key) in the end"
                }
            }
            for (scope, removed) in book.removed.sorted(by: { $0.key.key < $1.key.key }) where isMine(scope) {
                guard let holder = removed.holders.min(by: { $0.process < $1.process }) else { continue }
                return "process \(holder.process) obeys \(scope.key) and did not write it again"
            }
        default: break
        }
        return nil
    }

    private func sent(_ number: Int, _ address: Address, _ truth: GroundTruth) -> String? {
        guard !book.isEmpty else { return nil }
        let delivery = truth.attempts[number].delivery
        let news = truth.news(of: delivery)
        // A replacement leaves by its own recall.
        func concerns(_ scope: ControlScope, _ order: String) -> Bool {
            isMine(scope) && scope.concerns(news, in: truth.scenario.setting) && news.replacement?.order != order
        }
        let taken = book.taken[address]?.filter { concerns($0.key, $0.value.order.id) } ?? [:]
        if let scope = taken.keys.min(by: { $0.key < $1.key }) {
            return "\(truth.name(delivery)) left process \(address.process), which knew of \(scope.key)"
        }
        for (scope, standing) in book.standing.sorted(by: { $0.key.key < $1.key.key })
        where concerns(scope, standing.id) {
            // With `onStale: stop`, a process without a recent beat sends until the topic counts as stale. Its sender still waits for it.
            let goesOn = truth.scenario.setting.onStale == .continue || !standing.answers.isComplete
            let mayBeAlone = goesOn && !book.thawed.contains(address)
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

/// The orders known to each process.
struct OrderBook {
    private(set) var standing: [ControlScope: Standing] = [:]
    /// The orders received by each process.
    private(set) var taken: [Address: [ControlScope: Taken]] = [:]
    /// Orders that were removed from the topic and are not on it again.
    private(set) var removed: [ControlScope: Removed] = [:]
    private(set) var started: [Address: Instant] = [:]
    /// Processes that stood still and have not read the topic since. They cannot know that they are cut off from it.
    private(set) var thawed: Set<Address> = []
    /// Time at which an order that a process had received was lifted or lapsed there.
    private var liftedAt: [Address: [ControlScope: Instant]] = [:]
    /// Time at which the last beat of each process reached the topic. Senders of orders wait for processes with recent beats.
    private var heard: [Address: Instant] = [:]
    /// Time at which the first one did.
    private var firstHeard: [Address: Instant] = [:]
    /// Processes that have read the orders in force.
    private var informed: Set<Address> = []
    /// Orders applied by each process. An event's order may be applied before it is on the topic.
    private var applied: [Address: Set<Answer>] = [:]
    private var unanswered: [Address: [String: ControlScope]] = [:]
    /// Every order that was ever on the topic.
    private var known: Set<Order> = []
    /// The furthest that each process's wall clock was ever ahead.
    private var ahead: [Int: Duration] = [:]
    private let forgetsLapsed: Bool
    /// The scopes of the orders on the topic, also of lapsed ones.
    private var onTopic: Set<ControlScope> = []
    /// Offset of the last record that gave or lifted an order.
    private var changedAt: Int64 = -1
    /// The control topic as read by senders of orders, e.g. `newswire stop`.
    private var view = ControlView()

    /// - Parameter forgetsLapsed: true if orders count only until two clocks show that they have lapsed.
    init(forgetsLapsed: Bool = true) { self.forgetsLapsed = forgetsLapsed }

    struct Standing {
        var order: Order
        var at: Instant
        /// Processes that ran when it arrived and have not applied it.
        var missing: Set<Address>
        /// True if the tombstone of an earlier order follows its record, so that compaction removes that.
        var isEndangered = false
        /// True if it was on the topic before. Nobody waits for answers to rewritten orders, so processes may give none.
        var isWrittenAgain: Bool
        /// Processes that had no recent beat by true time when it arrived. If such a process is cut off and continues without
        /// the topic, it sends events that it has read.
        var silent: Set<Address>
        var unheard: Set<String> = []
        /// The answers known to the sender. Clocks that disagree must not make it complete too early.
        var answers: OrderAnswers

        var id: String { order.id }
        var until: Instant? { order.until }

        /// True if every process obeys it, or if its sender was told so.
        var isAcknowledged: Bool { missing.isEmpty || answers.isComplete }

        /// Returns true if the process did not count when the order arrived.
        func isAlone(_ address: Address) -> Bool {
            unheard.contains(address.replica) || !answers.isComplete && silent.contains(address)
        }
    }

    struct Removed {
        var until: Instant?
        /// Processes that have obeyed the order since.
        var holders: Set<Address>
        let at: Instant
        /// Time of the last beat by which a holder told that the topic lacks orders.
        var toldAt: [Address: Instant] = [:]
    }

    /// Identifies an answer. The id alone is not unique: an event's recall is named by its position on a topic, and a recreated
    /// topic reuses positions.
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
            firstHeard[address] = nil
            informed.remove(address)
            for scope in standing.keys { standing[scope]?.missing.remove(address) }
            for scope in removed.keys { removed[scope]?.holders.remove(address) }
        case .controlled(let row):
            switch row.meaning {
            case .stands(let order):
                onTopic.insert(order.scope)
                changedAt = row.offset
                removed[order.scope] = nil
                standing[order.scope] = Standing(
                    order: order, at: truth.now,
                    missing: Set(heard.filter { isWaitedFor($0.key, order, truth.now) }.keys),
                    isWrittenAgain: !known.insert(order).inserted,
                    silent: Set(started.keys.filter { !isWaitedFor($0, order, truth.now) }),
                    answers: OrderAnswers(
                        to: Instruction(id: order.id, scope: order.scope, at: order.at, by: order.by)))
            case .lifted(let scope):
                onTopic.remove(scope)
                changedAt = row.offset
                (standing[scope], removed[scope]) = (nil, nil)
            case .lapsed(let scope, let id, let until):
                changedAt = row.offset
                if let other = standing[scope], !other.order.ends(withLapseOf: id, until: until) {
                    standing[scope]?.isEndangered = true
                } else {
                    onTopic.remove(scope)
                    standing[scope] = nil
                }
            case .beat(let beat):
                if let address = started.keys.first(where: { $0.replica == beat.replica }) {
                    heard[address] = truth.now
                    firstHeard[address] = firstHeard[address] ?? truth.now
                    if beat.appliedTo ?? -1 >= changedAt, beat.orders ?? 0 > onTopic.count {
                        for scope in removed.keys where removed[scope]?.holders.contains(address) == true {
                            removed[scope]?.toldAt[address] = truth.now
                        }
                    }
                }
            case .ended(let replica):
                // A process waits for missing orders only while a running one says that it obeys them.
                for address in started.keys where address.replica == replica {
                    for scope in removed.keys { removed[scope]?.toldAt[address] = nil }
                }
            default: break
            }
            if let meaning = view.apply(row.record) {
                for scope in standing.keys { standing[scope]?.answers.apply(meaning, view.signs) }
                if case .stands(let order) = row.meaning {
                    let unheard = standing[order.scope]?.answers.unheard ?? []
                    standing[order.scope]?.unheard = Set(unheard.map(\.beat.replica))
                }
            }
        // Processes that know the order write it again. Without a running process, nobody knows it any more.
        case .orderLost(let scope):
            onTopic.remove(scope)
            standing[scope] = nil
        case .controlTruncated:
            // A process in its first reading does not see its removed beat, so it does not know that anybody waits for it.
            heard = heard.filter { informed.contains($0.key) }
            // A removed beat tells nobody that orders are missing.
            for scope in removed.keys { removed[scope]?.toldAt = [:] }
            for (scope, order) in standing {
                let holders = taken.filter { $0.value[scope]?.order.id == order.id }.keys
                removed[scope] = Removed(until: order.until, holders: Set(holders), at: truth.now)
            }
            standing = [:]
            onTopic = []
        case .clockStepped(let address, let size, let wallBefore):
            ahead[address.process] = max(ahead[address.process] ?? .zero, wallBefore + size - truth.now)
        case .ordersKnown(let address, true): informed.insert(address)
        case .thawed(let address): thawed.insert(address)
        case .input(let address, .ordersConfirmed): thawed.remove(address)
        case .input(let address, .orders(let changes)):
            for change in changes { apply(change, address, truth.now) }
        case .applied(let address, let applied):
            if let scope = unanswered[address]?.removeValue(forKey: applied.order),
                standing[scope]?.isWrittenAgain == true
            {
                standing[scope]?.missing.remove(address)
            }
        case .audited(let address, let entry):
            for scope in standing.keys { standing[scope]?.answers.apply(entry) }
            guard let name = entry.applied?.order else { return }
            applied[address, default: []].insert(Answer(entry.scope, name))
            for (scope, order) in standing where order.id == name && scope.key == entry.scope {
                standing[scope]?.missing.remove(address)
            }
        case .sent where forgetsLapsed, .over where forgetsLapsed: forgetLapsed(truth.now)
        default: break
        }
    }

    /// The removed orders that a process begins without, although a running process has told that they are missing, or has had no
    /// time to tell.
    func startsBlind(_ fact: Fact, _ now: Instant) -> [ControlScope] {
        guard case .ordersKnown(let address, true) = fact, !informed.contains(address), let start = started[address],
            let first = firstHeard[address], now - start < .seconds(60)
        else { return [] }
        return removed.filter { _, order in
            guard order.at < start else { return false }
            let others = order.holders.filter { informed.contains($0) }
            return others.contains { holder in
                // A process that has told nothing for longer may have been frozen since.
                guard let told = order.toldAt[holder] else { return now - order.at < .seconds(10) }
                return told < first && now - told < .seconds(25)
            }
        }.keys.sorted { $0.key < $1.key }
    }

    /// Returns the first process that had the time to read the order in force, and does not obey it or leaves its record endangered.
    func disobedient(_ scope: ControlScope, _ now: Instant) -> Int? {
        guard let order = standing[scope], now - order.at > .seconds(20) else { return nil }
        return informed.filter { address in
            started[address] != nil && (order.isEndangered || taken[address]?[scope]?.order.id != order.id)
        }.map(\.process).min()
    }

    private func isWaitedFor(_ address: Address, _ order: Order, _ now: Instant) -> Bool {
        guard let beat = heard[address], now - beat <= ControlRecord.Beat.countsFor else { return false }
        // Processes that obey an order need not answer it when it is rewritten.
        if taken[address]?[order.scope]?.order == order { return false }
        return applied[address]?.contains(Answer(order.scope.key, order.id)) != true
    }

    private mutating func apply(_ change: OrderChange, _ address: Address, _ now: Instant) {
        switch change {
        case .stands(let order):
            taken[address, default: [:]][order.scope] = Taken(order: order, at: now)
            unanswered[address, default: [:]][order.id] = order.scope
        case .lifted(let scope):
            if taken[address]?.removeValue(forKey: scope) != nil { liftedAt[address, default: [:]][scope] = now }
            removed[scope]?.holders.remove(address)
            unanswered[address, default: [:]][scope.key] = scope
        }
    }

    /// Returns true if the process obeyed an order of this scope at the time or later.
    func obeyed(_ scope: ControlScope, _ address: Address, after time: Instant) -> Bool {
        taken[address]?[scope] != nil || liftedAt[address]?[scope].map { $0 >= time } ?? false
    }

    /// Removes and returns the unanswered scopes, sorted by key.
    mutating func takeUnanswered(_ address: Address) -> [ControlScope] {
        (unanswered.removeValue(forKey: address) ?? [:]).values.sorted { $0.key < $1.key }
    }

    /// The furthest that the time of a lapse may be ahead: another process or the hub, whose clock is right, must support it.
    private var aheadOfLapses: Duration {
        let furthest = ahead.values.sorted(by: >).prefix(2)
        guard let first = furthest.first else { return .zero }
        let second = furthest.count == 2 ? furthest.last ?? .zero : .zero
        return min(first, second + ControlRecord.Beat.countsFor + ClockWitnesses.tolerance)
    }

    /// Forgets lapsed orders. Any process may lift an order for all as soon as it has lapsed by a time that others support.
    private mutating func forgetLapsed(_ now: Instant) {
        let ahead = aheadOfLapses
        func isLapsed(_ until: Instant?) -> Bool { until.map { $0 <= now + ahead } ?? false }
        guard
            standing.values.contains(where: { isLapsed($0.until) })
                || removed.values.contains(where: { isLapsed($0.until) })
                || taken.values.contains(where: { $0.values.contains { isLapsed($0.order.until) } })
        else { return }
        standing = standing.filter { !isLapsed($0.value.until) }
        removed = removed.filter { !isLapsed($0.value.until) }
        for address in taken.keys { taken[address] = taken[address]?.filter { !isLapsed($0.value.order.until) } }
    }
}
