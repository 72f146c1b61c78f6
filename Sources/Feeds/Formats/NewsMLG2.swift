/// NewsML-G2: a `newsMessage` or a bare item.
enum NewsMLG2 {
    static func read(_ root: MarkupElement, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        throw NotAFeed(.unsupported, "NewsML-G2 is not read yet")
    }
}
