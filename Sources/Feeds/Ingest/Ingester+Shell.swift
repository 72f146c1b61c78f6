import NewsModel

extension Ingester {
    /// True while anything is under way for any feed: a request, a write, or an answer that waits for one.
    public var isBusy: Bool {
        !fetches.isEmpty || !writes.isEmpty
            || lives.values.contains { $0.isBusy || $0.wantsStore || !$0.waiting.isEmpty }
    }
}

extension FeedState {
    /// The feed and what a record of the state topic keeps of it; `nil` for records of other kinds.
    public static func stored(key: String, value: [UInt8]) -> (feed: String, state: FeedState)? {
        let prefix = "feed/"
        guard key.hasPrefix(prefix) else { return nil }
        let parser = JSONParser(sizeMax: Ingester.recordMax)
        // An object lives no longer than its parser.
        let state = withExtendedLifetime(parser) {
            value.withUnsafeBufferPointer { bytes in
                (try? parser.object(in: bytes)).map { FeedState($0) }
            }
        }
        return state.map { (String(key.dropFirst(prefix.count)), $0) }
    }
}
