import NewsModel

// The effects of polls on a feed's state.

extension FeedState {
    /// Discards what was learned from the old address, because the settings now name another. Its entries stay known.
    mutating func restart(at url: String) {
        self.url = url
        host = nil
        forgetDocument()
        isGone = false
        move = nil
        endFailures()
    }

    /// Makes the next poll fetch the whole document.
    mutating func forgetDocument() {
        validators = nil
        bodyHash = nil
    }

    /// Makes the next document the first one, because entries of the former first reading are lost.
    mutating func forgetFirstReading() {
        (primedAt, primedAfter, isHalfPrimed) = (nil, -1, false)
        forgetDocument()
    }

    /// Returns to the configured address, because the one to which the feed had moved fails.
    mutating func forgetMove() {
        move = nil
        forgetDocument()
    }

    private mutating func endFailures() {
        failures = 0
        failingSince = nil
        failure = nil
    }

    mutating func fail(because: String, at wall: Instant) {
        failures = min(failures, 1_000_000) + 1
        failingSince = failingSince ?? wall
        failure = because
    }

    mutating func mustWait(until: Instant, because: String, at wall: Instant) {
        fail(because: because, at: wall)
        retryUntil = until
    }

    /// Applies a successful answer. Its entries are handled separately.
    mutating func succeed(_ receipt: AnswerVerdict.Receipt, _ request: FetchRequest, at wall: Instant) {
        if receipt.validators == nil {
            validatorsSince = nil
        } else if request.validators == nil || validatorsSince == nil {
            validatorsSince = wall
        }
        validators = receipt.validators
        bodyHash = receipt.bodyHash
        if !hasMoved(at: wall) { move = MovedAddress.after(move, receipt.move, at: wall) }
        endFailures()
        retryUntil = nil
        isGone = false
        lastSuccessAt = wall
    }

    func hasMoved(at wall: Instant) -> Bool { move?.isProven(at: wall) ?? false }

    /// Returns true if validators are to be left out once, because some servers answer "not changed" to anything.
    func hasOldValidators(at wall: Instant) -> Bool {
        validatorsSince.map { wall - $0 >= .seconds(8 * 86_400) } ?? false
    }

    /// Takes over what the entries of a document have changed.
    /// - Parameter isPartial: true if the document says nothing about the feed as a whole.
    mutating func learn(_ following: Following, isPartial: Bool) {
        let feed = following.feed
        if following.isIncomplete { forgetDocument() }
        identity = feed.identity
        lastNewAt = feed.lastNewAt
        cappedAt = feed.cappedAt
        if isPartial { return }
        primedAt = feed.primedAt
        medianGap = feed.medianGap
    }
}
