import ByteText
import NewsModel

extension FeedEntry {
    /// Adds one category: IPTC's codes as subjects, all others under the publisher's name. Repetitions count once.
    mutating func add(category name: String, label: String? = nil, scheme: String? = nil) {
        // Checked before anything slow, because there may be a million categories.
        guard categories.count < EventLimits.categories || subjects.count < EventLimits.categories else { return }
        guard let name = PlainText.ofText(name, limit: EventLimits.category) ?? label?.nonEmpty else { return }
        let scheme = scheme.flatMap { $0.trimmed.isEmpty ? nil : String($0.trimmed) }
        if let subject = Self.mediaTopic(name, scheme: scheme) {
            if subjects.count < EventLimits.categories, !subjects.contains(subject) { subjects.append(subject) }
            return
        }
        let term = Term(
            name, label: label.flatMap { PlainText.ofText($0, limit: EventLimits.category) }, scheme: scheme)
        if categories.count < EventLimits.categories, !categories.contains(term) { categories.append(term) }
    }

    /// Accepts eight bare digits as a code only if their vocabulary is named.
    private static func mediaTopic(_ name: String, scheme: String?) -> String? {
        // Checked before the scheme, because nearly all categories are words.
        guard name.utf8.suffix(8).allSatisfy(\.isASCIIDigit) else { return nil }
        let isNamed = scheme.map { MediaTopic.isNewsCodesAddress($0.utf8) || $0 == "medtop" || $0 == "subj" } ?? false
        return isNamed || name.utf8.count > 8 ? MediaTopic.canonical(name.utf8) : nil
    }

    /// Adds the terms of Media RSS and Dublin Core, which entries of all formats may have.
    mutating func addExtensionTerms(of item: MarkupElement) {
        for group in [item] + item.all("group", in: .media) {
            for category in group.all("category", in: .media) {
                add(category: category.text, label: category["label"], scheme: category["scheme"])
            }
            for keywords in group.all("keywords", in: .media) {
                for word in keywords.text.split(separator: ",") { add(category: String(word)) }
            }
        }
        for subject in item.all("subject", in: .dc) { add(category: subject.text) }
    }
}
