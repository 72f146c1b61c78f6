import NewsModel

extension Ingester {
    /// True while any feed has a request or a write in flight, or an answer or a record that waits for one.
    public var isBusy: Bool {
        !fetches.isEmpty || !writes.isEmpty
            || lives.values.contains { $0.isBusy || $0.wantsStore || !$0.waiting.isEmpty }
    }
}

extension FeedState {
    /// The feed's name and state in a record of the state topic; `nil` for records of other kinds.
    public static func stored(key: String, value: [UInt8]) -> (feed: String, state: FeedState)? {
        let prefix = "feed/"
        guard key.hasPrefix(prefix) else { return nil }
        let parser = JSONParser(sizeMax: Ingester.recordMax)
        // A JSON object is valid only as long as its parser exists.
        let state = withExtendedLifetime(parser) {
            value.withUnsafeBufferPointer { bytes in
                (try? parser.object(in: bytes)).map { FeedState($0) }
            }
        }
        return state.map { (String(key.dropFirst(prefix.count)), $0) }
    }
}
