import KafkaModel

/// Order keys of stories that events have recalled; their later events do not leave. Without an order on the control
/// topic a recall lasts as long as the process. Beyond `capacity` the one whose last recall is oldest is forgotten.
struct RecalledStories: Sendable {
    static let capacity = 10_000
    private var known = AgingTable<Void>(capacity: capacity)

    /// - Returns: `false` if it was recalled before.
    mutating func insert(_ story: String) -> Bool {
        let key = Fingerprint(of: story)
        let isNew = !known.contains(key)
        known.set((), for: key)
        return isNew
    }

    mutating func remove(_ story: String) { if !known.isEmpty { known.remove(Fingerprint(of: story)) } }

    var isEmpty: Bool { known.isEmpty }

    func contains(_ story: String) -> Bool { !known.isEmpty && known.contains(Fingerprint(of: story)) }
}

extension Fingerprint {
    /// The fingerprint of a single text.
    package init(of text: String) {
        self.init()
        mix(text)
    }
}
