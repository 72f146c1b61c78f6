import Dispatch
package import Testing

/// Runs a test on its own thread, so that its blocking calls take no thread that other tests or servers in this process need.
package struct OwnThread: TestTrait, SuiteTrait, TestScoping {
    package init() {}

    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(QueueExecutor()) { try await function() }
    }

    private final class QueueExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "test")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }
}

extension Trait where Self == OwnThread {
    package static var ownThread: Self { OwnThread() }
}
