import ByteText
import KafkaModel
import NewsModel
import NotificationHub

/// Deliveries that need several sends, because a send has room for few tags. The sends leave one after the other. Each one's end
/// is committed before the next one leaves, so that after a crash the next owner repeats at most the send in flight.
extension Engine {
    /// Ends a send that the hub has refused or whose retries have ended. The other readers get the event all the same.
    ///
    /// - Returns: `false` if the hub has accepted no send of the delivery before, so that the delivery ends.
    mutating func failSend(_ place: Place, reply: HubReply?, _ turn: inout Turn) -> Bool {
        guard partitions[place].sendsAccepted > 0 else { return false }
        partitions[place].failSend()
        if !sendRest(place, &turn) { endSends(place, reply: reply, &turn) }
        return true
    }

    /// Continues after the end of a send.
    ///
    /// - Returns: `false` if it was the last send.
    mutating func sendRest(_ place: Place, _ turn: inout Turn) -> Bool {
        guard let content = partitions.content(of: place), let routing = content.routed?.routing,
            routing.send(partitions[place].nextSend) != nil
        else { return false }
        if let withdrawal = partitions[place].withdrawal {
            endWithdrawn(place, for: withdrawal, reply: nil, &turn)
        } else if partitions[place.slot].mayCommitWatermark {
            let delivery = partitions[place]
            partitions[place.slot].partlySent.note(
                SendProgress(
                    offset: content.record.offset, platform: settings.platforms[place.platform],
                    sends: UInt16(clamping: delivery.nextSend), refused: delivery.sendsFailed,
                    hash: routing.hash(ofSends: delivery.nextSend, of: content.identity)), platform: place.platform)
            partitions[place].awaitCommit()
            lanes[place.lane].owned.awaitCommit(of: place.id, at: turn.now)
        } else if partitions[place.slot].isSending {
            // The offsets of a former incarnation are not committed.
            makeReady(place)
        }
        return true
    }

    /// Ends a delivery after its last send.
    mutating func endSends(_ place: Place, reply: HubReply?, _ turn: inout Turn) {
        let failed = Int(partitions[place].sendsFailed)
        guard failed > 0 else { return settle(place, as: .accepted, nil, reply: reply, &turn) }
        let failure = ResultRecord.Failure(
            .partlyRefused,
            "the hub did not accept \(failed) of \(counted(partitions[place].nextSend, "send")), or did not answer")
        settle(place, as: .unknown, failure, reply: reply, &turn)
    }

    /// Lets deliveries go on whose progress is committed. Those of partitions that are being released stay: the next owner
    /// continues.
    mutating func continuePartlySent() {
        for lane in lanes.ids {
            for id in lanes[lane].owned.takeCommitted() {
                guard let place = partitions.place(of: id), partitions[place].phase == .partlySent,
                    partitions[place.slot].isSending
                else { continue }
                makeReady(place)
            }
        }
    }

    /// Continues where a former owner of the partition stopped.
    mutating func resume(_ platforms: UInt16, of first: Place, _ content: ExaminedRecord) {
        guard !partitions[first.slot].partlySent.inherited.isEmpty else { return }
        let routing = content.routed?.routing
        for platform in settings.platforms.indices where platforms & (1 << platform) != 0 {
            partitions[first.slot].inherit(first.on(platform), settings.platforms[platform], content.identity) {
                sends in
                routing?.send(sends) == nil ? nil : routing?.hash(ofSends: sends, of: content.identity)
            }
        }
    }
}

extension Routing.Tagged {
    fileprivate func hash(ofSends count: Int, of record: RecordIdentity) -> UInt64 {
        var tags = Fingerprint()
        for send in sequence(first: self, next: \.rest).prefix(count) { tags.mix(send.expression) }
        return SendProgress.hash(of: record, tags: tags.value)
    }
}
