import Feeds
import NIOCore
import NewsModel

extension IngestCore {
    /// Polls each feed of this process once, and waits until all resulting writes are stored.
    ///
    /// - Parameter isReady: returns true once the state of all partitions has been handed in.
    /// - Returns: the status of the feeds at that time.
    func pollOnce(when isReady: @escaping @Sendable (IngestCore) -> Bool) -> EventLoopFuture<[FeedStatus]> {
        let promise = loop.makePromise(of: [FeedStatus].self)
        let round = Round()
        loop.scheduleRepeatedTask(initialDelay: .zero, delay: Self.lookEvery) { task in
            if !round.hasBegun {
                guard isReady(self) else { return }
                round.hasBegun = true
                self.handle(.pollNow)
            }
            let statuses = self.statuses
            guard !self.isBusy, statuses.allSatisfy(\.wasPolled) else { return }
            task.cancel()
            promise.succeed(statuses)
        }
        .cancel(with: finished.futureResult, promise, self)
        return promise.futureResult
    }

    private static let lookEvery = TimeAmount.milliseconds(50)

    /// Used only on the loop.
    private final class Round: @unchecked Sendable {
        var hasBegun = false
    }
}

extension RepeatedTask {
    /// Ends the wait if the process ends first.
    fileprivate func cancel(
        with end: EventLoopFuture<Void>, _ promise: EventLoopPromise<[FeedStatus]>, _ core: IngestCore
    ) {
        end.whenComplete { _ in
            self.cancel()
            promise.succeed(core.statuses)
        }
    }
}

extension FeedStatus {
    /// True if the feed has been polled since the process began, or will not be polled.
    package var wasPolled: Bool {
        switch state {
        case .gone, .stopped, .waiting: true
        case .new, .primed, .capped, .failing, .blocked: lastPollAt != nil || mustWait
        }
    }
}
