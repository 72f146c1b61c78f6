/// ninjs: one item, or an array of items.
enum Ninjs {
    /// - Parameter bytes: UTF-8.
    static func read(_ bytes: [UInt8], from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        throw NotAFeed(.unsupported, "ninjs is not read yet")
    }
}
