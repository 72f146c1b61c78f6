/// What someone probably meant.
enum SettingsSpelling {
    /// The candidate nearest to the word, when one is near enough to be worth naming.
    static func nearest(to word: String, among candidates: [String]) -> String? {
        let lowered = word.lowercased()
        let ranked = candidates.map { ($0, distance(lowered, $0.lowercased())) }
        guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(1, min(word.count, best.0.count) / 3) else {
            return nil
        }
        return best.0
    }

    /// How many letters must be added, dropped, changed or swapped with their neighbour. Long words are cut: nobody
    /// mistypes 64 letters.
    static func distance(_ left: String, _ right: String) -> Int {
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
