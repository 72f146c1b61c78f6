/// Lives shared out in batches among workers.
struct Batches {
    var lives: Int
    /// Lives of one batch.
    var size: Int
    /// Batches under way at once.
    var workers: Int

    /// - Parameters:
    ///   - live: lives the lives of one batch, by their numbers from 0; called on any thread.
    ///   - take: takes a batch that has ended, in any order; called from here. False begins no further batch.
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
