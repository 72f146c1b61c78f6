import EditorialControl
import KafkaModel
import NewsModel
import NotificationHub

/// Settles deliveries: each gets one outcome, which goes to the results topic after its dead letter, if any.
extension Engine {
    /// - Parameter platforms: the platforms as bits.
    mutating func settleAll(
        _ platforms: UInt16, of first: Place, as outcome: Outcome, _ failure: ResultRecord.Failure?, _ turn: inout Turn
    ) {
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            settleUnsent(first.on(platform), as: outcome, failure, &turn)
        }
    }

    /// Ends a delivery that must not leave any more.
    mutating func endWithdrawn(
        _ place: Place, for reason: Delivery.Withdrawal, reply: HubReply?, _ turn: inout Turn
    ) {
        switch reason {
        case .recalled:
            let story = partitions.content(of: place)?.routed?.event.orderKey ?? ""
            settleUnsent(place, as: .canceled, recalled(story), reply: reply, &turn)
        case .superseded: settleUnsent(place, as: .superseded, .superseded, reply: reply, &turn)
        }
    }

    /// Settles a delivery that is not sent, or not sent on. Its outcome is unknown if readers may have it: a request was not answered, or
    /// some of its sends were accepted, perhaps by a former owner of the partition.
    mutating func settleUnsent(
        _ place: Place, as outcome: Outcome, _ failure: ResultRecord.Failure?, reply: HubReply? = nil,
        _ turn: inout Turn
    ) {
        settle(place, as: partitions[place].isCertain ? outcome : .unknown, failure, reply: reply, &turn)
    }

    mutating func settle(
        _ place: Place, as outcome: Outcome, _ failure: ResultRecord.Failure?, reply: HubReply? = nil,
        _ turn: inout Turn
    ) {
        guard let content = partitions.content(of: place) else { return }
        let source = held.isEmpty ? nil : age(of: place, content)
        let request = end(place, content, as: outcome, failure, reply, isPending: outcome.isDeadLettered, turn)
        if outcome == .accepted, !held.isEmpty, content.returned == nil, let routed = content.routed {
            let isGone = partitions.content(of: place) == nil && partitions[recordOf: place].held == 0
            let writtenAt = content.record.timestamp
            if held.mayBeReplaced(by: routed, from: source, writtenAt: writtenAt, isGone: isGone) {
                let copy = HeldCopy(routed: routed, source: source, writtenAt: writtenAt, isGone: isGone)
                pendingResults.keep(copy, of: place.id)
            }
        }
        if outcome.isDeadLettered {
            pendingResults.add(request)
            turn.actions.append(.storeDeadLetter(request, content.record))
        } else {
            turn.actions.append(.store(request))
        }
    }

    /// Ends a delivery with its outcome.
    ///
    /// - Parameter isPending: the result waits until another record is stored.
    /// - Returns: the result.
    mutating func end(
        _ place: Place, _ content: ExaminedRecord, as outcome: Outcome, _ failure: ResultRecord.Failure?,
        _ reply: HubReply?, isPending: Bool, _ turn: borrowing Turn
    ) -> StoreRequest {
        let delivery = partitions[place]
        // The story waits until the result is sent, because a later delivery's result must not be stored before it.
        if delivery.story != .none, !isPending { stories.noteEnd(of: delivery.story) }
        partitions[place.slot].settle(place, isPending: isPending, at: turn.now)
        // The record's last delivery has released its content.
        if content.returned == .due, partitions.content(of: place) == nil { returnsSettled &+= 1 }
        if delivery.claim == .owner || delivery.claim == .repetition, outcome != .accepted, let routed = content.routed
        {
            forget(place, content, routed)
        }
        count(outcome, of: place, turn)
        let story = noteEnd(of: place, content, as: outcome)
        return StoreRequest(
            delivery: place.id, result: result(of: place, content, as: outcome, failure, reply, turn),
            version: content.routed?.ledgerVersion, story: story, identity: content.identity,
            carried: content.record.headers.isEmpty ? [] : content.record.headers.carriedToResults)
    }

    /// Writes a pending result, because the record that it waited for is stored.
    mutating func write(_ request: StoreRequest, _ place: Place, _ turn: inout Turn) {
        partitions[place.slot].resultWritten(place, at: turn.now)
        turn.actions.append(.store(request))
        if partitions[place].story != .none { stories.noteEnd(of: partitions[place].story) }
    }

    private func result(
        of place: Place, _ content: ExaminedRecord, as outcome: Outcome, _ failure: ResultRecord.Failure?,
        _ reply: HubReply?, _ turn: borrowing Turn
    ) -> ResultRecord {
        let delivery = partitions[place]
        let writtenAt = partitions[recordOf: place].writtenAt
        let routing = content.routed?.routing
        return ResultRecord(
            eventID: content.eventID, story: content.routed?.event.resultStory,
            platform: settings.platforms[place.platform], outcome: outcome,
            categories: routing?.categories ?? [], tags: routing?.tags ?? [], lane: lanes[place.lane].settings.name,
            attempts: Int(delivery.attempts), httpStatus: reply?.status, notificationID: reply?.notificationID,
            trackingID: reply?.trackingID, source: partitions.source(of: place),
            publishedAt: content.routed?.event.publishedAt, settledAt: turn.wall,
            latency: .init(
                queue: delivery.firstSentAt.map { max(.zero, $0 - writtenAt) }, hub: delivery.hubTime,
                total: max(.zero, turn.wall - writtenAt)),
            afterRecall: delivery.withdrawal == .recalled && (outcome == .accepted || outcome == .unknown),
            cut: cuts(of: delivery, routing), leftOut: routing?.leftOut ?? [], routing: routing?.reasons ?? [],
            isQuiet: delivery.isQuiet,
            isTest: content.routed?.event.isTest ?? false, users: routing?.users ?? [],
            interests: routing?.interests ?? [], sends: routing?.rest == nil ? 0 : Int(delivery.sendsAccepted),
            run: content.record.run,
            format: content.format,
            filled: delivery.attempts > 0
                ? content.routed?.filled(on: settings.platforms[place.platform]) ?? [] : [],
            language: routing?.edition, error: failure)
    }

    private func cuts(of delivery: Delivery, _ routing: Routing.Tagged?) -> [String] {
        guard let unknown = routing?.unknownInterests, !unknown.isEmpty else { return delivery.cuts.names }
        return delivery.cuts.names + unknown
    }
}

extension ResultRecord.Failure {
    static let withheld = ResultRecord.Failure(.withheld, "the event's status is withheld")
    static let wouldRing = ResultRecord.Failure(
        .wouldRing,
        "it must disturb nobody, and these devices would ring: payload.templates names no quiet template, or a platform has no silent form"
    )
    static let canceled = ResultRecord.Failure(.canceled, "the event recalls its story")
    static let endlessEmbargo = ResultRecord.Failure(.embargo, "under an embargo that names no end")
    static let released = ResultRecord.Failure(
        .released, "an operator moved what waited behind a flood to the dead letters")
    static let recalledWhileHeld = ResultRecord.Failure(
        .recalled, "the story was recalled while it waited for its time")
    static let supersededWhileHeld = ResultRecord.Failure(
        .superseded, "a newer version of the story came while this one waited for its time")
    static let superseded = ResultRecord.Failure(.superseded, "a newer version of the story was waiting")
    static let outdated = ResultRecord.Failure(.outdated, "a newer version of the story came before")
    static let duplicate = ResultRecord.Failure(.duplicate, "the same id and version was read before")
}
