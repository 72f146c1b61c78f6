import ByteText
import KafkaIO
import KafkaModel
import NewsModel

/// Handles bad items and the broker's answers.
extension FileRun {
    // MARK: Bad items

    mutating func bad(_ number: Int, _ fingerprint: UInt64, _ line: Int, _ reason: String) throws {
        walk.bad(number, fingerprint)
        try complain(line, reason)
    }

    private mutating func complain(_ line: Int, _ reason: String) throws {
        summary.bad += 1
        if publication.isStrict { throw complaint(line, reason) }
        if summary.bad <= FilePublication.complaintsShown { tell(complaint(line, reason).description) }
    }

    func complaint(_ line: Int, _ reason: String) -> EventFile.Failure {
        EventFile.Failure(description: "\(file.name):\(line): \(reason)")
    }

    func tell(_ text: String) {
        bar.clear()
        report(text)
    }

    /// A sentence about what the same command does when it is given again.
    func advice(_ does: String) -> String {
        publication.progress != nil
            ? "the same command \(does)" : "no position is kept: the same command starts again from the beginning"
    }

    // MARK: The broker's answers

    /// Does periodic work: draws the bar, applies answers, saves progress, and checks for silence of the broker.
    mutating func tick() throws {
        let (now, publication) = (clock.now, publication)
        bar.draw(share: file.share, events: publisher.acknowledged - acknowledgedBefore, at: now) { work in
            guard let schedule = publication.schedule else { return work }
            let wall = publication.wall.now()
            return schedule.end(of: work, from: wall) - wall
        }
        try answers()
        if savedAt.duration(to: now) > Self.saveInterval {
            savedAt = now
            try save()
        }
        try listen(at: now)
    }

    mutating func answers() throws {
        for refusal in publisher.takeRefused() {
            guard let line = walk.refused(index: refusal.index) else { continue }
            try complain(line, "the broker refuses it: \(refusal.failure)")
        }
        walk.settle(before: publisher.contiguous)
    }

    /// - Throws: the reason, if the broker has not answered for too long.
    private mutating func listen(at now: ContinuousClock.Instant) throws(KafkaFailure) {
        let waiting = publisher.waiting
        if waiting == 0 || publisher.acknowledged != silence.acknowledged {
            silence = Silence(acknowledged: publisher.acknowledged, since: now)
            return
        }
        let silent = silence.since.duration(to: now)
        if silent > FilePublication.silenceMax {
            silence.isOver = true
            throw publisher.silence
        }
        if silent > FilePublication.silenceToTell, !silence.isTold {
            silence.isTold = true
            tell("waiting for the broker to acknowledge \(counted(waiting, "event"))")
        }
    }

    mutating func save() throws(EventFile.Failure) {
        guard let file = publication.progress, file.current != walk.progress else { return }
        // Only once all events found on the topic were met again: if killed earlier, the next command must find them too.
        if onTopic.isEmpty, publisher.contiguous >= sentBefore.count {
            walk.covers(until: sentBefore.at.milliseconds)
            sentBefore = (publisher.published, publication.wall.now())
        }
        try file.save(walk.progress)
    }

    /// Waits up to `limit` for records in flight, abandons the rest, and saves what is certain.
    mutating func conclude(waiting limit: Duration) {
        let deadline = clock.now + limit
        try? save()
        while !publisher.settle(within: .milliseconds(100)), clock.now < deadline {
            try? answers()
            try? save()
        }
        let unknown = publisher.abandon()
        try? answers()
        var repeated = walk.conclude(publisher.isAcknowledged)
        do {
            try save()
        } catch {
            tell("\(error)")
            repeated = max(repeated, walk.progress.published - (publication.progress?.current?.published ?? 0))
        }
        summary.published = publisher.acknowledged - acknowledgedBefore
        if unknown > 0 {
            tell(
                "\(file.name): the broker did not answer for \(counted(unknown, "event")): each may be on the topic or not; \(advice("publishes them again"))"
            )
        }
        if repeated > 0 {
            tell(
                "\(file.name): \(counted(repeated, "event")) on the topic could not be recorded; the same command publishes them again"
            )
        }
        // Without any event on the topic there is nothing to continue.
        let stored = publication.progress != nil ? walk.progress.published : summary.published
        if stored + unknown == 0, !summary.isInterrupted { return }
        let ending = summary.isInterrupted ? "interrupted" : "stopped"
        tell("\(file.name): \(ending) with \(counted(stored, "event")) on the topic; \(advice("publishes the rest"))")
    }
}
