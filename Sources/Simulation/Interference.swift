public import NewsModel
public import PublishEngine

/// Stands between an engine and its world, to plant a bug and see it caught.
public protocol Interference {
    /// Changes what the engine is told.
    mutating func alter(_ input: inout Input)
    /// Changes what the engine wants done; what is returned is told to the engine next.
    mutating func alter(_ actions: inout [Action]) -> [Input]
    /// Changes when the engine asks to be woken.
    mutating func alter(wakeAt: inout Instant?, now: Instant)
}

extension Interference {
    public mutating func alter(_ input: inout Input) {}
    public mutating func alter(_ actions: inout [Action]) -> [Input] { [] }
    public mutating func alter(wakeAt: inout Instant?, now: Instant) {}
}
