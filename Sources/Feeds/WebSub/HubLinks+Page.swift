extension HubLinks {
    /// Bytes of a page that are looked at: its head.
    private static let pageMax = 262_144

    /// The links in the head of a web page. A feed has its own in `FeedDocument`.
    /// - Parameter base: the page's address.
    public init(page: [UInt8], base: String) {
        self.init()
        let document = MarkupDocument(DocumentText.utf8(Array(page.prefix(Self.pageMax)), charset: nil))
        var index = 0
        while index < document.nodes.count {
            let element = MarkupElement(document: document, index: index)
            if element.isNamed("body", in: [.none, .xhtml]) { return }
            index += 1
            // What looks like a link in there is text.
            if element.isNamed("script", in: [.none, .xhtml]) || element.isNamed("template", in: [.none, .xhtml]) {
                index = max(index, Int(document.nodes[element.index].next))
            } else if element.isNamed("link", in: [.none, .xhtml]), let target = element["href"] {
                add(target, relations: element["rel"], base: base)
            }
        }
    }
}
