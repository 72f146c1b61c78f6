/// Guesses the word that a misspelt word was meant to be.
public enum Spelling {
    /// The candidate nearest to the word; `nil` if none is near enough to be worth a hint.
    public static func nearest(to word: String, among candidates: [String]) -> String? {
        let lowered = word.lowercased()
        let ranked = candidates.map { ($0, distance(lowered, $0.lowercased())) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(1, min(word.count, best.0.count) / 3) else {
            return nil
        }
        return best.0
    }

    /// The question for the nearest candidate, as in `did you mean headline?`; `nil` if none is near enough.
    public static func question(for word: String, among candidates: [String]) -> String? {
        nearest(to: word, among: candidates).map { "did you mean \($0)?" }
    }

    /// The candidates near enough to the word to be worth a hint, the nearest first.
    public static func near(_ word: String, among candidates: some Sequence<String>, atMost limit: Int) -> [String] {
        let lowered = word.lowercased()
        var ranked: [(name: String, distance: Int)] = []
        for name in candidates where abs(name.count - word.count) <= max(1, word.count / 3) {
            let distance = distance(lowered, name.lowercased())
            if distance <= max(1, min(word.count, name.count) / 3) { ranked.append((name, distance)) }
        }
        return ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(limit).map(\.name)
    }

    /// The number of letters to add, drop, change or swap with their neighbour. Long words are cut to 64 letters.
    private static func distance(_ left: String, _ right: String) -> Int {
        let left = Array(left.prefix(64))
        let right = Array(right.prefix(64))
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, character) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var cost = min(last[column + 1] + 1, current[column] + 1, last[column] + (character == other ? 0 : 1))
                if row > 0, column > 0, character == right[column - 1], left[row - 1] == other {
                    cost = min(cost, beforeLast[column - 1] + 1)
                }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
