/// Divides lives into batches for several workers.
struct Batches {
    var lives: Int
    /// Number of lives in a batch.
    var size: Int
    /// Number of concurrent batches.
    var workers: Int

    /// - Parameters:
    ///   - live: runs the lives of one batch, given their numbers from 0; called on any thread.
    ///   - take: receives finished batches in any order; called by this task. Returns false to start no further batch.
    func run<Part: Sendable>(_ live: @escaping @Sendable (Range<Int>) -> Part, take: (Part) -> Bool) async {
        await withTaskGroup(of: Part.self) { group in
            var next = 0
            for _ in 0..<workers { add(&next, live, to: &group) }
            for await part in group where take(part) { add(&next, live, to: &group) }
        }
    }

    private func add<Part: Sendable>(
        _ next: inout Int, _ live: @escaping @Sendable (Range<Int>) -> Part, to group: inout TaskGroup<Part>
    ) {
        let range = next..<min(next + size, lives)
        guard !range.isEmpty else { return }
        next = range.upperBound
        group.addTask { live(range) }
    }
}
