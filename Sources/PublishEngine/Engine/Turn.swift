import NewsModel

/// One input being handled: what time it is, and what is to be done about it.
struct Turn {
    /// By the monotonic clock: pace, backoff, time limits.
    let now: Instant
    /// By the clock on the wall: ages, expiry, what people read.
    let wall: Instant
    /// The clock on the wall as embargoes may trust it: for a minute after a step, the earliest it may be.
    let embargoClock: Instant
    var actions: [Action]
}
