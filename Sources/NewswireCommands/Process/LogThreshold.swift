import Logging
import Synchronization

/// The least severe line that is written, by every logger of the process. May change at any time.
final class LogThreshold: Sendable {
    private static let levels = Logger.Level.allCases
    private let index: Atomic<Int>

    init(_ level: Logger.Level) {
        index = Atomic(Self.index(of: level))
    }

    var level: Logger.Level {
        // Read for every event: a plain load, and no lock.
        get { Self.levels[index.load(ordering: .relaxed)] }
        set { index.store(Self.index(of: newValue), ordering: .relaxed) }
    }

    private static func index(of level: Logger.Level) -> Int { levels.firstIndex(of: level) ?? 0 }
}
