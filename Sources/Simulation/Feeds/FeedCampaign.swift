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
        public var violations: [FeedViolation] = []
    }

    /// - Parameter progress: called after each batch, by this task.
    /// - Returns: the final progress, once all lives have ended or one has failed.
    public func run(progress: (Progress) -> Void) async -> Progress {
        var sum = Progress()
        await Batches(lives: lives, size: 20, workers: workers).run(live) { batch in
            sum.lives += batch.lives
            sum.report = sum.report + batch.report
            sum.violations += batch.violations
            progress(sum)
            return sum.violations.isEmpty
        }
        sum.violations.sort { $0.seed < $1.seed }
        return sum
    }

    private func live(_ range: Range<Int>) -> Progress {
        var progress = Progress()
        for number in range {
            switch Self.live(FeedScenario(seed: firstSeed &+ UInt64(number))) {
            case .success(let report):
                progress.lives += 1
                progress.report = progress.report + report
            case .failure(let violation):
                progress.violations.append(violation)
                return progress
            }
        }
        return progress
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
