import NewsModel

/// The `xml:lang` and `xml:base` of a document's elements. Inner elements inherit both.
///
/// The attributes of an element around others are read once. Otherwise one long list of attributes around many entries would be
/// read again for each of their links.
final class InheritedAttributes {
    /// By the index of an element around others; `nil` if neither it nor an element around it has the attribute.
    private var languages: [Int: String?] = [:]
    private var bases: [Int: String?] = [:]
    /// The address of the document, against which the outermost `xml:base` is resolved.
    let document: String
    /// Number of elements read, for tests of linear time.
    private(set) var work = 0

    init(document: String = "") {
        self.document = document
    }

    /// Returns the `xml:lang` of the element, or else of the nearest element around it that has one.
    func language(of element: MarkupElement) -> String? {
        work += 1
        return element["lang", in: .xml] ?? element.parent.flatMap(knownLanguage)
    }

    /// Returns the nearest `xml:base`, resolved against those around it; `nil` without any.
    func base(of element: MarkupElement) -> String? {
        work += 1
        let outer = element.parent.flatMap(knownBase)
        // A longer base is no address that an event may have.
        guard let base = element["base", in: .xml], !base.isEmpty, base.utf8.count <= EventLimits.address else {
            return outer
        }
        return WebAddress.resolve(base, base: outer ?? document) ?? outer ?? document
    }

    private func knownLanguage(of element: MarkupElement) -> String? {
        if let known = languages[element.index] { return known }
        let language = language(of: element)
        languages[element.index] = .some(language)
        return language
    }

    private func knownBase(of element: MarkupElement) -> String? {
        if let known = bases[element.index] { return known }
        let base = base(of: element)
        bases[element.index] = .some(base)
        return base
    }
}
