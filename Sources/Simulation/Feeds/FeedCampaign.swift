/// Many lives of feeds, run in sequence by each worker until one breaks a promise.
public struct FeedCampaign: Sendable {
    public var firstSeed: UInt64
    public var lives: Int
    public var workers: Int

    public init(firstSeed: UInt64, lives: Int, workers: Int = 2) {
        self.firstSeed = firstSeed
        self.lives = max(lives, 0)
        self.workers = max(workers, 1)
    }

    public struct Progress: Sendable {
        public var lives = 0
        public var report = FeedLifeReport()
        /// Failures, sorted by seed at the end. Each batch stops at its first one.
        public var failures: [FeedFailure] = []
    }

    /// - Parameter progress: called after each batch, by this task.
    /// - Returns: the final progress, once all lives have ended or one has failed.
    public func run(progress: (Progress) -> Void) async -> Progress {
        var sum = Progress()
        await Batches(lives: lives, size: 20, workers: workers).run(live) { batch in
            sum.lives += batch.lives
            sum.report = sum.report + batch.report
            sum.failures += batch.failures
            progress(sum)
            return sum.failures.isEmpty
        }
        sum.failures.sort { $0.violation.seed < $1.violation.seed }
        return sum
    }

    private func live(_ range: Range<Int>) -> Progress {
        var progress = Progress()
        for number in range {
            let scenario = FeedScenario(seed: firstSeed &+ UInt64(number))
            switch Self.live(scenario) {
            case .success(let report):
                progress.lives += 1
                progress.report = progress.report + report
            case .failure(let violation):
                progress.failures.append(FeedFailure(scenario, violation) { Self.violation(in: $0) })
                return progress
            }
        }
        return progress
    }

    private static func violation(in scenario: FeedScenario) -> FeedViolation? {
        if case .failure(let violation) = live(scenario) { violation } else { nil }
    }

    /// Runs one life and checks every promise.
    public static func live(_ scenario: FeedScenario) -> Result<FeedLifeReport, FeedViolation> {
        var world = FeedWorld(scenario)
        do throws(FeedViolation) {
            return .success(try world.run())
        } catch {
            return .failure(error)
        }
    }
}
