/// NITF 3.x.
enum NITF {
    static func read(_ root: MarkupElement, from source: DocumentSource) throws(NotAFeed) -> FeedDocument {
        throw NotAFeed(.unsupported, "NITF is not read yet")
    }
}
