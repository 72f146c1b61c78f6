public import HubModel
public import KafkaModel
public import NewsModel
public import PublishEngine

/// Intercepts the traffic between an engine and its cluster, to plant a bug that a checker must find.
public protocol Interference {
    /// Changes the engine's next input.
    mutating func alter(_ input: inout Input)
    /// Changes the engine's actions. The returned inputs are the engine's next ones.
    mutating func alter(_ actions: inout [Action]) -> [Input]
    /// Changes the time at which the engine asks to be woken, by the monotonic clock.
    mutating func alter(wakeAt: inout Instant?, now: Instant)
    /// Changes the reasons for waiting in the engine's status.
    mutating func alter(_ reasons: WaitReasons) -> WaitReasons
    /// Changes the engine's time.
    mutating func alter(_ moment: inout Moment)
    /// Changes the limits of a process's pool.
    mutating func alter(_ limits: inout SenderLimits)
    /// Changes which of a connection's requests were refused when the hub ended it.
    mutating func alter(refused: inout [RequestSlot], of all: [RequestSlot])
    /// Changes the number of lost lines that a log reports.
    mutating func alter(lost: inout Int)
    /// Changes the records that a consumer reports as removed before they were read.
    mutating func alter(removed: inout [RemovedRecords])
}

extension Interference {
    public mutating func alter(_ input: inout Input) {}
    public mutating func alter(_ actions: inout [Action]) -> [Input] { [] }
    public mutating func alter(wakeAt: inout Instant?, now: Instant) {}
    public mutating func alter(_ reasons: WaitReasons) -> WaitReasons { reasons }
    public mutating func alter(_ moment: inout Moment) {}
    public mutating func alter(_ limits: inout SenderLimits) {}
    public mutating func alter(refused: inout [RequestSlot], of all: [RequestSlot]) {}
    public mutating func alter(lost: inout Int) {}
    public mutating func alter(removed: inout [RemovedRecords]) {}
}
