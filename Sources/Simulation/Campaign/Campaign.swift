public import PublishEngine

/// Many lives, run in sequence by each worker until one breaks a promise.
public struct Campaign: Sendable {
    public var firstSeed: UInt64
    public var lives: Int
    public var options: Options
    /// Number of concurrent workers.
    public var workers: Int

    public init(firstSeed: UInt64, lives: Int, options: Options = Options(), workers: Int = 2) {
        self.firstSeed = firstSeed
        self.lives = max(lives, 0)
        self.options = options
        self.workers = max(workers, 1)
    }

    public struct Progress: Sendable {
        public var lives = 0
        public var report = LifeReport()
        /// Failures, sorted by seed at the end. Each batch stops at its first one.
        public var failures: [Failure] = []
    }

    /// - Parameter progress: called after each batch, by this task.
    /// - Returns: the final progress, once all lives have ended or one has failed.
    public func run(progress: (Progress) -> Void) async throws(PayloadProblems) -> Progress {
        _ = try SimulatedCluster(Scenario(seed: firstSeed, options: options))
        var sum = Progress()
        await Batches(lives: lives, size: 100, workers: workers).run(live) { batch in
            sum.lives += batch.lives
            sum.report = sum.report + batch.report
            sum.failures += batch.failures
            progress(sum)
            return sum.failures.isEmpty
        }
        sum.failures.sort { $0.seed < $1.seed }
        return sum
    }

    private func live(_ range: Range<Int>) -> Progress {
        var progress = Progress()
        for number in range {
            let life = Scenario(seed: firstSeed &+ UInt64(number), options: options)
            switch Self.live(life) {
            case .success(let report):
                progress.lives += 1
                progress.report = progress.report + report
            case .failure(let violation):
                var shrinker = Shrinker(promise: violation.promise) { Self.violation(in: $0) }
                progress.failures.append(
                    Failure(seed: life.seed, violation: violation, shrunk: shrinker.shrink(life)))
                return progress
            }
        }
        return progress
    }

    /// Runs one life and checks every promise.
    ///
    /// - Parameter trace: called with a line for every step.
    public static func live(
        _ life: Scenario, trace: ((String) -> Void)? = nil
    ) -> Result<LifeReport, Violation> {
        do {
            var cluster = try SimulatedCluster(life)
            cluster.trace = trace
            return .success(try cluster.run())
        } catch let violation as Violation {
            return .failure(violation)
        } catch {
            return .failure(Violation(promise: .liveness, sentence: "the life cannot begin: \(error)", at: .zero))
        }
    }

    private static func violation(in life: Scenario) -> Violation? {
        if case .failure(let violation) = live(life) { violation } else { nil }
    }
}
