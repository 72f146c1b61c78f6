import ByteText
public import NewsModel

/// The meaning of a fetch's result for the feed. `Schedule` decides when to poll next.
public enum AnswerVerdict: Sendable, Hashable {
    /// A document to follow, possibly without anything new.
    case changed(FeedDocument, Receipt)
    /// The publisher answered "not changed", or the body is the known one.
    case unchanged(Receipt)
    /// Retry, each time after a longer pause, and report the failure after several.
    case failed(PollFailure)
    /// The publisher asks everybody to send no requests to this host for this time.
    case wait(Duration, host: String, PollFailure)
    /// 410: the feed is not coming back. Polls end, but its state is kept.
    case gone
    /// This process canceled the fetch; nothing was learned.
    case canceled

    /// The data to remember of a successful answer. Answers of other kinds do not change it.
    public struct Receipt: Sendable, Hashable {
        /// Sent with the next poll, if present.
        public var validators: Validators?
        public var bodyHash: BodyHash?
        /// The publisher promises no change for this time, 0 s…`freshMax`.
        public var freshFor: Duration?
        /// Evidence that the feed has moved for good.
        public var move: PermanentMove?
        /// The time by the publisher's clock.
        var servedAt: Instant?
    }

    /// An upper limit, because publishers promise years without meaning it.
    public static let freshMax: Duration = .seconds(86_400)
    public static let waitMin: Duration = .seconds(60)
    public static let waitMax: Duration = .seconds(86_400)
    /// The pause after a 429 that names no time.
    public static let waitUntold: Duration = .seconds(600)

    /// - Parameters:
    ///   - request: the request, without which the answer has no meaning.
    ///   - now: time by the wall clock, for dates in headers.
    public init(_ result: FetchResult, to request: FetchRequest, at now: Instant) {
        switch result {
        case .failed(let failure) where failure.reason == .canceled: self = .canceled
        case .failed(let failure): self = .failed(.noAnswer(failure))
        case .answered(let answer): self.init(answer, to: request, at: now)
        }
    }

    private init(_ answer: FetchAnswer, to request: FetchRequest, at now: Instant) {
        let headers = AnswerHeaders(answer, now: now)
        var receipt = Receipt(
            validators: headers.validators, bodyHash: answer.bodyHash, freshFor: headers.freshFor,
            move: PermanentMove(from: request.url, answer.redirects), servedAt: headers.servedAt)
        switch (answer.status, answer.document) {
        case (200, _) where answer.bodyHash != nil && answer.bodyHash == request.knownBodyHash,
            (226, _) where answer.bodyHash != nil && answer.bodyHash == request.knownBodyHash:
            self = .unchanged(receipt)
        case (200, .feed(let document)?), (226, .feed(let document)?):
            if let etag = receipt.validators?.etag, etag == request.validators?.etag, request.knownBodyHash != nil {
                // The body has changed under the same tag. Such a tag would hide news one day.
                receipt.validators = nil
            }
            // With the validators of a document that was cut off, the publisher would answer "not changed" for the missing part.
            if document.isCutOff { (receipt.validators, receipt.bodyHash) = (nil, nil) }
            self = .changed(document, receipt)
        case (200, .notAFeed(let problem)?), (226, .notAFeed(let problem)?): self = .failed(.notAFeed(problem))
        case (304, _):
            guard let sent = request.validators else {
                self = .failed(.unaskedNotModified)
                return
            }
            receipt.validators = headers.refreshing(sent)
            receipt.bodyHash = request.knownBodyHash
            self = .unchanged(receipt)
        // The target of a temporary redirect says nothing about the feed's own address.
        case (410, _) where answer.redirects.allSatisfy(\.isPermanent): self = .gone
        case (429, _), (503, _):
            let failure = headers.isBotWall ? PollFailure.botWall(answer.status) : .status(answer.status)
            let host = (try? FetchAddress(answer.finalURL))?.host ?? ""
            if let asked = headers.retryAfter {
                self = .wait(min(max(asked, Self.waitMin), Self.waitMax), host: host, failure)
            } else if answer.status == 429 {
                self = .wait(Self.waitUntold, host: host, failure)
            } else {
                self = .failed(failure)
            }
        default: self = .failed(headers.isBotWall ? .botWall(answer.status) : .status(answer.status))
        }
    }
}
