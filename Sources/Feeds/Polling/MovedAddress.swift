import ByteText
public import NewsModel

/// One answer's word that a feed has moved for good.
public struct PermanentMove: Sendable, Hashable {
    public var from: String
    public var to: String

    /// `nil` when the first redirect is a temporary one, or leads to what looks like a login page.
    init?(from: String, _ redirects: [FetchAnswer.Redirect]) {
        // What a temporary redirect leads to may be elsewhere tomorrow, even if the last step is permanent.
        guard let last = redirects.prefix(while: { $0.status == 301 || $0.status == 308 }).last, last.to != from,
            !Self.looksCaptive(last.to, unlike: from)
        else { return nil }
        self.from = from
        to = last.to
    }

    /// Hotel networks and paywalls redirect everything, and permanently.
    private static func looksCaptive(_ to: String, unlike from: String) -> Bool {
        let words = { (text: String) in
            Set(text.utf8.split { !$0.isASCIILetter }.map { String(decoding: $0, as: UTF8.self).asciiLowercased })
        }
        return !words(to).subtracting(words(from)).isDisjoint(with: captiveWords)
    }

    private static let captiveWords: Set<String> = [
        "captive", "captiveportal", "consent", "hotspot", "login", "logon", "register", "signin", "signup", "wifi",
    ]
}

/// A new address that is on trial: redirects that call themselves permanent are often mistakes of an hour.
public struct MovedAddress: Sendable, Hashable {
    public var move: PermanentMove
    /// By the wall clock.
    public var since: Instant
    /// Polls in a row, 1…`pollsNeeded`.
    public var polls: Int

    public static let pollsNeeded = 3
    public static let timeNeeded: Duration = .seconds(86_400)

    /// The trial after one more answer that counted (`AnswerVerdict.changed` or `.unchanged`); others leave it as it is.
    /// - Parameter move: of the answer's receipt; `nil` ends the trial.
    public static func after(_ previous: MovedAddress?, _ move: PermanentMove?, at now: Instant) -> MovedAddress? {
        guard let move else { return nil }
        guard var trial = previous, trial.move == move else { return MovedAddress(move: move, since: now, polls: 1) }
        trial.polls = min(trial.polls, pollsNeeded - 1) + 1
        return trial
    }

    /// The new address may replace the configured one.
    public func isProven(at now: Instant) -> Bool {
        polls >= Self.pollsNeeded && now - since >= Self.timeNeeded
    }
}

extension PermanentMove {
    /// As it was kept in the state.
    public init(from: String, to: String) {
        self.from = from
        self.to = to
    }
}

extension MovedAddress {
    /// As it was kept in the state.
    public init(restoring move: PermanentMove, since: Instant, polls: Int) {
        self.init(move: move, since: since, polls: min(max(polls, 1), Self.pollsNeeded))
    }
}
