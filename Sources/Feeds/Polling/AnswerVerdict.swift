import ByteText
public import NewsModel

/// What the end of a fetch means for the feed. When to poll next is another question: `Schedule` answers it.
public enum AnswerVerdict: Sendable, Hashable {
    /// A document to follow; possibly with nothing new in it.
    case changed(FeedDocument, Receipt)
    /// The publisher says so, or the body is the known one.
    case unchanged(Receipt)
    /// Try again later, each time later than the last, and say so after some.
    case failed(Trouble)
    /// The publisher asks everybody to stay away from this host for so long.
    case wait(Duration, host: String, Trouble)
    /// 410: the feed is not coming back. Do not poll, do not forget.
    case gone
    /// We gave up ourselves; nothing was learned.
    case canceled

    /// What to remember of an answer that counts. Answers of other kinds change none of this.
    public struct Receipt: Sendable, Hashable {
        /// To be sent with the next poll; `nil` for none.
        public var validators: Validators?
        public var bodyHash: BodyHash?
        /// The publisher promises no change before, 0 s…`freshMax`.
        public var freshFor: Duration?
        /// Evidence that the feed has moved for good.
        public var move: PermanentMove?
    }

    /// Publishers promise years without meaning it.
    public static let freshMax: Duration = .seconds(86_400)
    public static let waitMin: Duration = .seconds(60)
    public static let waitMax: Duration = .seconds(86_400)
    /// After a 429 that names no time.
    public static let waitUntold: Duration = .seconds(600)

    /// - Parameters:
    ///   - request: what was asked; the answer means nothing without it.
    ///   - now: by the wall clock, for dates in headers.
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
            move: PermanentMove(from: request.url, answer.redirects))
        switch (answer.status, answer.document) {
        case (200, _) where answer.bodyHash != nil && answer.bodyHash == request.knownBodyHash,
            (226, _) where answer.bodyHash != nil && answer.bodyHash == request.knownBodyHash:
            self = .unchanged(receipt)
        case (200, .feed(let document)?), (226, .feed(let document)?):
            if let etag = receipt.validators?.etag, etag == request.validators?.etag, request.knownBodyHash != nil {
                // The body is another one under the same tag: a tag that would hide news one day.
                receipt.validators = nil
            }
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
        case (410, _): self = .gone
        case (429, _), (503, _):
            let trouble = headers.isBotWall ? Trouble.botWall(answer.status) : .status(answer.status)
            let host = (try? FetchAddress(answer.finalURL))?.host ?? ""
            if let told = headers.retryAfter {
                self = .wait(min(max(told, Self.waitMin), Self.waitMax), host: host, trouble)
            } else if answer.status == 429 {
                self = .wait(Self.waitUntold, host: host, trouble)
            } else {
                self = .failed(trouble)
            }
        default: self = .failed(headers.isBotWall ? .botWall(answer.status) : .status(answer.status))
        }
    }
}
