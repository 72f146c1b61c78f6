import ByteText
public import NewsModel

/// The claim of one answer that a feed has moved for good.
public struct PermanentMove: Sendable, Hashable {
    public var from: String
    public var to: String

    /// `nil` if the first redirect is temporary, or if the target looks like a login page.
    init?(from: String, _ redirects: [FetchAnswer.Redirect]) {
        // The target of a temporary redirect may be another one tomorrow, even if the last step is permanent.
        guard let last = redirects.prefix(while: \.isPermanent).last, last.to != from,
            !Self.looksCaptive(last.to, unlike: from)
        else { return nil }
        self.from = from
        to = last.to
    }

    /// Returns true for targets like those of hotel networks and paywalls, which redirect everything permanently.
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

/// A new address on trial, because redirects that claim to be permanent are often short-lived mistakes.
public struct MovedAddress: Sendable, Hashable {
    public var move: PermanentMove
    /// Start of the trial, by the wall clock.
    public var since: Instant
    /// Consecutive polls with this move, 1…`pollsNeeded`.
    public var polls: Int

    public static let pollsNeeded = 3
    public static let timeNeeded: Duration = .seconds(86_400)

    /// Returns the trial after another successful answer, `AnswerVerdict.changed` or `.unchanged`.
    /// - Parameter move: the move in the answer's receipt; `nil` ends the trial.
    public static func after(_ previous: MovedAddress?, _ move: PermanentMove?, at now: Instant) -> MovedAddress? {
        guard let move else { return nil }
        guard var trial = previous, trial.move == move else { return MovedAddress(move: move, since: now, polls: 1) }
        trial.polls = min(trial.polls, pollsNeeded - 1) + 1
        return trial
    }

    /// Returns true if the new address may replace the configured one.
    public func isProven(at now: Instant) -> Bool {
        polls >= Self.pollsNeeded && now - since >= Self.timeNeeded
    }
}

extension PermanentMove {
    /// Restores a move from the feed's state.
    public init(from: String, to: String) {
        self.from = from
        self.to = to
    }
}

extension MovedAddress {
    /// Restores a trial from the feed's state.
    public init(restoring move: PermanentMove, since: Instant, polls: Int) {
        self.init(move: move, since: since, polls: min(max(polls, 1), Self.pollsNeeded))
    }
}
