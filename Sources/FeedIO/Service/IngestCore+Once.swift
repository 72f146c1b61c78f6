import Feeds
import NIOCore
import NewsModel

extension IngestCore {
    /// Polls every feed once that belongs to this process, and waits until all that follows from it is stored.
    ///
    /// - Parameter isReady: true once the state of all its partitions has been handed in.
    /// - Returns: how the feeds are doing then.
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

    /// Belongs to the loop.
    private final class Round: @unchecked Sendable {
        var hasBegun = false
    }
}

extension RepeatedTask {
    /// Ends the wait when the process is to end first.
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
    /// Polled since the process began, or not to be polled.
    var wasPolled: Bool {
        switch state {
        case .gone, .stopped, .waiting: true
        case .new, .primed, .capped, .failing, .blocked: lastPollAt != nil
        }
    }
}
