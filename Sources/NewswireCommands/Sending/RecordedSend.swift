import ArgumentParser
import ControlIO
import EditorialControl
import KafkaIO
import KafkaModel
import NewsModel
import NewswireSettings
import NotificationHub
import PublishEngine
import PublisherService

/// The part of `newswire send` that uses Kafka. Obeys orders in force, and records the send on the audit and the results topic.
///
/// Calls block.
struct RecordedSend {
    private let settings: Settings
    private let event: NewsEvent
    private let categories: [String]
    /// True to send despite orders in force, and without knowing them.
    private let isForced: Bool
    /// The place of the audit line; `nil` without such a line.
    private var place: ResultRecord.Source?
    /// True once a request was sent to a platform.
    private(set) var hasSent = false
    /// Time at which the orders were last read; `nil` if they must be read again.
    private var readAt: Instant?
    /// The ids of the orders that it is sent in spite of.
    private var known: Set<String> = []
    /// The id of the recall that has ended it; `nil` without one.
    private var endedBy: String?

    init(_ event: NewsEvent, categories: [String], _ settings: Settings, isForced: Bool) {
        (self.settings, self.event, self.categories, self.isForced) = (settings, event, categories, isForced)
    }

    /// Reads the orders in force, and announces the notification on the audit topic.
    ///
    /// - Parameter count: the number of requests.
    /// - Throws: an exit if the notification may not be sent, after writing the reason to standard error.
    mutating func announce(requests count: Int, by author: String, reason: String?) throws {
        guard let orders = try examine() else { return }
        let requests = AnnouncedRequests(story: event.orderKey, group: settings.kafkaSettings.group, count: count)
        let line = AuditEntry.send(
            event, at: ServiceClock.wall, by: author, reason: reason, despite: orders, requests: requests)
        do throws(KafkaFailure) {
            place = try AuditWriter(settings).store(line)
            // A recall that did not see this line was written before it, so these orders include it.
            readAt = nil
        } catch {
            // Without the topic there is no audit. If an audit fails, the operator must know before anything is sent.
            guard isForced || error.code == Self.missing else {
                throw CommandFailure("not sent: it cannot be recorded. \(error) \(Self.wayRound).")
            }
            warn(error)
        }
    }

    /// Reads the orders again if the last reading was before the announcement, or is old, because this process may have stood still.
    ///
    /// - Throws: as `announce`.
    mutating func confirm() throws {
        guard !isForced, readAt.map({ ServiceClock.steady - $0 > Self.ordersLast }) ?? true else { return }
        _ = try examine()
    }

    private static let ordersLast = Duration.seconds(1)

    /// - Returns: the orders against the notification, which are empty unless it is forced; `nil` if they cannot be read and it is
    ///   sent nevertheless.
    private mutating func examine() throws -> [Order]? {
        readAt = ServiceClock.steady
        let orders: [Order]
        let environments: HubEnvironments
        do throws(KafkaFailure) {
            (orders, environments) = try standing()
        } catch {
            guard isForced else {
                throw CommandFailure(
                    "\(notSent): the standing orders cannot be read, and one of them may be against it. \(error) "
                        + "\(Self.wayRound).")
            }
            warn(error)
            return nil
        }
        let topic = settings.control.topics.control
        if case .disagreed(let ours, let theirs) = environments.agreement(
            with: (try? settings.controlSettings())?.environment)
        {
            throw CommandFailure(
                "\(notSent): \(HubEnvironment.disagreement(ours, theirs, on: topic)); \(HubEnvironment.remedy(topic))")
        }
        if !orders.isEmpty, !isForced {
            endedBy = orders.first { $0.scope == .recall(story: event.orderKey) }?.id
            for order in orders {
                notice("error: \(notSent): \(order.scope.standing) \(FormerOrder(order).phrase)")
            }
            notice("\(Self.wayRound), and is recorded.")
            throw ExitCode.failure
        }
        known.formUnion(orders.map(\.id))
        return orders
    }

    private var notSent: String { hasSent ? "not sent to the other platforms" : "not sent" }

    /// The sentence that says how it is sent all the same. `newswire approve` has no option for it.
    private static var wayRound: String {
        Proposal.Deed.approved == nil
            ? "--despite-stop sends it all the same"
            : "Proposed again with --despite-stop, it is sent all the same once it is approved"
    }

    private static let missing = KafkaFailure.missing(topic: "").code

    private func warn(_ failure: KafkaFailure) {
        notice("warning: this notification is not recorded. \(failure)")
    }

    /// The orders against this event, and the environments on the control topic.
    private func standing() throws(KafkaFailure) -> ([Order], HubEnvironments) {
        let admin = try KafkaAdmin(settings: settings.kafkaSettings, timeout: AuditWriter.patience)
        let counts = try admin.partitionCounts(of: [settings.control.topics.control])
        guard counts[settings.control.topics.control] != nil else {
            guard settings.control.onStale == .continue else {
                throw .missing(topic: settings.control.topics.control)
            }
            // A missing topic has no orders, and processes send without it too.
            return ([], HubEnvironments())
        }
        let view = try ControlTable.view(settings)
        // Once announced, the topic was warned of before.
        if place == nil { ControlTable.warn(of: view, settings.control.topics.control) }
        guard view.unknownOrders.isEmpty else {
            throw KafkaFailure(
                code: "_UNKNOWN_ORDER", detail: "One is of a kind that this version does not know, and may be a stop",
                remedy: "Update newswire.")
        }
        guard !view.lacksOrders else {
            throw KafkaFailure(
                code: "_MISSING_ORDERS", isRetriable: true,
                detail: "The topic has lost orders that running processes obey",
                remedy: "They write them again within a minute; then try again.")
        }
        // A category may have been renamed since it was stopped.
        let names = (try? settings.categoryTable()).map { table in categories.flatMap(table.stoppingNames) }
        let orders = view.orders(against: event.orderKey, categories: names ?? categories, at: ServiceClock.wall)
        return (orders, view.environments)
    }

    /// Writes the result of one request to the results topic. A send without an audit line has no result either.
    mutating func settle(_ routing: Routing.Tagged, _ result: SendResult, platform: Platform) {
        hasSent = true
        guard var record = record(routing, result.outcome, platform, attempts: result.attempts) else { return }
        record.error = result.failure
        if record.outcome.mayHaveLeft, let recall = lateRecall {
            record.afterRecall = true
            // No other platform gets it.
            readAt = nil
            notice("warning: \(event.orderKey) was recalled \(FormerOrder(recall).phrase), while it was on its way")
        }
        if case .replied(let reply) = result {
            record.httpStatus = reply.status
            record.notificationID = reply.notificationID
            record.trackingID = reply.trackingID
        }
        store(record)
    }

    /// A recall that was given after the orders were read; `nil` if the orders cannot be read. Does not wait for beats, because the
    /// sender of a recall waits for the result.
    private var lateRecall: Order? {
        let view = try? ControlReading(settings.kafkaSettings, settings.control.topics).view()
        return view?.recall(of: event.orderKey, besides: known, at: ServiceClock.wall)
    }

    /// Writes the result of a request that is not sent, so that nobody waits for its outcome.
    func cancel(_ routing: Routing.Tagged, platform: Platform) {
        guard var record = record(routing, .canceled, platform, attempts: 0) else { return }
        // The end of a recall names what the recall has ended, by this code.
        record.error =
            endedBy.map {
                ResultRecord.Failure(
                    code: FailureCode.recalled.rawValue, detail: "the story was recalled by order \($0)")
            }
            ?? ResultRecord.Failure(
                code: FailureCode.canceled.rawValue, detail: "newswire send ended before it")
        store(record)
    }

    /// - Returns: `nil` without an audit line.
    private func record(
        _ routing: Routing.Tagged, _ outcome: Outcome, _ platform: Platform, attempts: Int
    ) -> ResultRecord? {
        guard let place else { return nil }
        var record = ResultRecord(
            eventID: event.id, story: event.resultStory, platform: platform, outcome: outcome,
            categories: routing.categories, tags: routing.tags, lane: Self.lane, attempts: attempts,
            source: place, settledAt: ServiceClock.wall, isTest: event.isTest)
        record.routing = routing.reasons
        record.language = routing.edition
        return record
    }

    private func store(_ record: ResultRecord) {
        var value: [UInt8] = []
        record.encode(into: &value)
        // Has no header nw-source, because the ledger settles records of lanes, and this is not one of them.
        let produced = ProducedRecord(
            topic: settings.engine.resultsTopic, key: Array(event.id.utf8), value: value,
            headers: [RecordHeader(HeaderName.outcome, record.outcome.rawValue)])
        do throws(KafkaFailure) { _ = try AuditWriter(settings).store(produced) } catch { warn(error) }
    }

    /// The name that replaces a lane's name in results.
    private static let lane = "send"
}

extension SendResult {
    /// The outcome as in results. The send is not retried.
    fileprivate var outcome: Outcome {
        switch meaning {
        case .accepted: .accepted
        case .refusedEvent: .rejected
        case .unknownAcceptance: .unknown
        case .invalid, .tokenRefused, .forbidden, .missingHub, .certificate, .unreachable, .connectionLost, .busy:
            .exhausted
        }
    }

    fileprivate var attempts: Int { if case .notSent = self { 0 } else { 1 } }

    fileprivate var failure: ResultRecord.Failure? {
        let verdict = SendVerdict(self)
        if verdict.isAccepted { return nil }
        let code =
            switch self {
            case .replied(let reply): "http-\(reply.status)"
            case .notSent: FailureCode.unreachable.rawValue
            case .unknown: FailureCode.noReply.rawValue
            }
        return ResultRecord.Failure(code: code, detail: verdict.message)
    }
}

extension ControlScope {
    /// The beginning of a sentence about an order in force.
    fileprivate var standing: String {
        switch self {
        case .recall(let story): "\(story) was recalled"
        case .stop(let gate): "\(gate.phrase) was stopped"
        }
    }
}
