import KafkaModel
import NewsModel
import NotificationHub

/// A delivery gets its one outcome, and the outcome goes to the results topic, behind its dead letter if there is one.
extension Engine {
    /// - Parameter platforms: as bits.
    mutating func settleAll(
        _ platforms: UInt16, of first: Place, as outcome: Outcome, _ failure: ResultRecord.Failure?,
        _ turn: inout Turn
    ) {
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            settle(first.on(platform), as: outcome, failure, &turn)
        }
    }

    /// Ends a delivery that must not leave any more. An unanswered attempt may have been accepted: then it is unknown whether
    /// it left.
    mutating func endWithdrawn(
        _ place: Place, for reason: Delivery.Withdrawal, reply: HubReply?, _ turn: inout Turn
    ) {
        let isCertain = partitions[place].isCertain
        switch reason {
        case .recalled: settle(place, as: isCertain ? .canceled : .unknown, .recalled, reply: reply, &turn)
        case .superseded: settle(place, as: isCertain ? .superseded : .unknown, .superseded, reply: reply, &turn)
        }
    }

    mutating func settle(
        _ place: Place, as outcome: Outcome, _ failure: ResultRecord.Failure?, reply: HubReply? = nil,
        _ turn: inout Turn
    ) {
        guard let content = partitions.content(of: place) else { return }
        let delivery = partitions[place]
        // Its story waits until the result is on its way: a later one's result must not be stored before it.
        if delivery.story != .none, !outcome.isDeadLettered { stories.noteEnd(of: delivery.story) }
        partitions[place.slot].settle(place, isDeadLettered: outcome.isDeadLettered, at: turn.now)
        if delivery.claim == .owner, outcome != .accepted, let routed = content.routed {
            forgetID(of: routed, place)
        }
        guardAgainstFlood(place, endingAs: outcome, turn)

        let request = StoreRequest(
            delivery: place.id, result: result(of: place, content, as: outcome, failure, reply, turn),
            version: content.routed?.event.version?.text, identity: content.identity,
            carried: content.record.headers.isEmpty ? [] : content.record.headers.carriedToResults)
        if outcome.isDeadLettered {
            pendingResults[place.id] = request
            turn.actions.append(.storeDeadLetter(request, content.record))
        } else {
            turn.actions.append(.store(request))
        }
    }

    private func result(
        of place: Place, _ content: ExaminedRecord, as outcome: Outcome, _ failure: ResultRecord.Failure?,
        _ reply: HubReply?, _ turn: borrowing Turn
    ) -> ResultRecord {
        let delivery = partitions[place]
        let offset = partitions[recordOf: place].offset
        let writtenAt = partitions[recordOf: place].writtenAt
        let routing = content.routed?.routing
        return ResultRecord(
            eventID: content.eventID, platform: settings.platforms[place.platform], outcome: outcome,
            categories: routing?.categories ?? [], tags: routing?.tags ?? [], lane: lanes[place.lane].settings.name,
            attempts: Int(delivery.attempts), httpStatus: reply?.status, notificationID: reply?.notificationID,
            trackingID: reply?.trackingID, source: .init(partition: partitions[place.slot].id, offset: offset),
            publishedAt: content.routed?.event.publishedAt, settledAt: turn.wall,
            latency: .init(
                queue: delivery.firstSentAt.map { max(.zero, $0 - writtenAt) }, hub: delivery.hubTime,
                total: max(.zero, turn.wall - writtenAt)),
            afterRecall: outcome == .accepted && delivery.withdrawal == .recalled, cut: delivery.cuts.names,
            leftOut: routing?.leftOut ?? [], error: failure)
    }
}

extension ResultRecord.Failure {
    static let withheld = ResultRecord.Failure(.withheld, "the event's status is withheld")
    static let canceled = ResultRecord.Failure(.canceled, "the event recalls its story")
    static let recalled = ResultRecord.Failure(.recalled, "the story was recalled")
    static let released = ResultRecord.Failure(
        .released, "an operator moved what waited behind a flood to the dead letters")
    static let superseded = ResultRecord.Failure(.superseded, "a newer version of the story was waiting")
    static let outdated = ResultRecord.Failure(.outdated, "a newer version of the story came before")
    static let duplicate = ResultRecord.Failure(.duplicate, "the same id and version was read before")
}
