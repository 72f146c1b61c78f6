import ByteText

extension EntryParts {
    /// The picture of an entry: from Media RSS and its groups, or else from the format's own enclosure.
    func image(of item: MarkupElement) -> String? {
        let groups = [item] + item.all("group", in: .media)
        for group in groups {
            for content in group.all("content", in: .media) {
                if isImage(content), let image = content["url"].flatMap({ address($0, at: content) }) { return image }
            }
        }
        for group in groups {
            for element in [group] + group.all("content", in: .media) {
                for thumbnail in element.all("thumbnail", in: .media) {
                    if let image = (thumbnail["url"] ?? thumbnail.text).nonEmpty.flatMap({ address($0, at: thumbnail) })
                    {
                        return image
                    }
                }
            }
        }
        for enclosure in item.children {
            let reference: String?
            if enclosure.isNamed("enclosure", in: .rss) {
                reference = enclosure["url"]
            } else if enclosure.isNamed("link", in: .atom), LinkRelation.enclosure.isNamed(by: enclosure["rel"]) {
                reference = enclosure["href"]
            } else {
                continue
            }
            if let reference, enclosure["type"]?.hasPrefixIgnoringASCIICase("image/") ?? false,
                let image = address(reference, at: enclosure)
            {
                return image
            }
        }
        return nil
    }

    /// Decides by the medium, or else by the type, or else by the end of the address.
    private func isImage(_ content: MarkupElement) -> Bool {
        if let medium = content["medium"] { return medium.equalsIgnoringASCIICase("image") }
        if let type = content["type"], !type.isEmpty { return type.hasPrefixIgnoringASCIICase("image/") }
        guard let path = content["url"]?.prefix(while: { $0 != "?" && $0 != "#" }) else { return false }
        return [".jpg", ".jpeg", ".png", ".gif", ".webp", ".avif"].contains { path.asciiLowercased.hasSuffix($0) }
    }
}

extension String {
    /// `nil` if the text is empty.
    var nonEmpty: String? { isEmpty ? nil : self }
}
