public import NewsModel
public import PublishEngine

/// Stands between an engine and its cluster, to plant a bug and see it caught.
public protocol Interference {
    /// Changes what the engine receives.
    mutating func alter(_ input: inout Input)
    /// Changes what the engine wants done; the inputs returned are fed to the engine next.
    mutating func alter(_ actions: inout [Action]) -> [Input]
    /// Changes when the engine asks to be woken, by the monotonic clock.
    mutating func alter(wakeAt: inout Instant?, now: Instant)
    /// Changes what the engine's status says about waiting.
    mutating func alter(_ reasons: WaitReasons) -> WaitReasons
    /// Changes what the engine takes for the time.
    mutating func alter(_ moment: inout Moment)
}

extension Interference {
    public mutating func alter(_ input: inout Input) {}
    public mutating func alter(_ actions: inout [Action]) -> [Input] { [] }
    public mutating func alter(wakeAt: inout Instant?, now: Instant) {}
    public mutating func alter(_ reasons: WaitReasons) -> WaitReasons { reasons }
    public mutating func alter(_ moment: inout Moment) {}
}
