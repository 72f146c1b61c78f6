import ByteText

/// Text for display on a phone: no markup, single blanks, and no characters that hide or reverse others.
package enum PlainText {
    /// Converts HTML to text in one linear pass. Tags are removed, and so is the content of scripts and the like.
    /// References are replaced once.
    ///
    /// - Parameter limit: maximum bytes of UTF-8. A longer text is cut between two visible characters.
    /// - Returns: `nil` if no visible text is left.
    package static func ofHTML(_ html: some Collection<UInt8>, limit: Int) -> String? {
        html.withContiguousStorageIfAvailable { ofHTML($0, limit: limit) }
            ?? Array(html).withUnsafeBufferPointer { ofHTML($0, limit: limit) }
    }

    /// Converts text that is plain already, in which `<` and `&` are literal.
    package static func ofText(_ text: String, limit: Int) -> String? {
        text.withBytes { bytes in
            var visible = VisibleText(limit: limit)
            visible.append(bytes, 0..<bytes.count)
            return visible.text
        }
    }

    private static func ofHTML(_ bytes: UnsafeBufferPointer<UInt8>, limit: Int) -> String? {
        var visible = VisibleText(limit: limit)
        var decoded: [UInt8] = []
        var tokens = MarkupTokens(bytes)
        var closed: Set<String>?
        while !visible.isFull, let token = tokens.next() {
            switch token.kind {
            case .text:
                decoded.removeAll(keepingCapacity: true)
                CharacterReferences.decode(bytes, token.inside, isHTML: true, to: &decoded)
                decoded.withUnsafeBufferPointer { visible.append($0, 0..<$0.count) }
            case .data: visible.append(bytes, token.inside)
            case .startTag, .endTag:
                guard let name = HTMLElements.name(bytes, token.name) else {
                    // `<jane@example.org>` is an address, not a tag.
                    visible.append(bytes, token.start..<token.end)
                    continue
                }
                if token.kind == .startTag, token.inside.isEmpty, !HTMLElements.known.contains(name) {
                    if closed == nil { closed = HTMLElements.closed(in: bytes) }
                    if !(closed?.contains(name) ?? false) {
                        // Text such as `Array<Element>` may be part of a headline.
                        visible.append(bytes, token.start..<token.end)
                        continue
                    }
                }
                if HTMLElements.blocks.contains(name) { visible.appendBlank() }
                if token.kind == .startTag, !token.closesItself, let place = HTMLElements.hidden.firstIndex(of: name) {
                    tokens.skip(toEndOf: HTMLElements.hidden[place], place)
                }
            case .documentType, .skipped: break
            }
        }
        return visible.text
    }
}

/// The properties of HTML elements that matter here.
private enum HTMLElements {
    /// Returns the name without prefix in lower case; `nil` if it cannot be an element of HTML or XHTML.
    static func name(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> String? {
        var local = range
        for at in range {
            let byte = bytes[at]
            if byte == UInt8(ascii: ":") {
                local = at + 1..<range.upperBound
            } else if !byte.isASCIILetter, !byte.isASCIIDigit, byte != UInt8(ascii: "-"), byte != UInt8(ascii: "_") {
                return nil
            }
        }
        // A longer name cannot matter and is not copied.
        return local.count > 15 ? "" : bytes.text(local).asciiLowercased
    }

    /// Returns the names of all end tags, so that a start tag need not search for its own.
    static func closed(in bytes: UnsafeBufferPointer<UInt8>) -> Set<String> {
        var names: Set<String> = []
        var tokens = MarkupTokens(bytes)
        while let token = tokens.next() {
            if token.kind == .endTag, let name = name(bytes, token.name) { names.insert(name) }
        }
        return names
    }

    /// Elements whose content is not for readers.
    static let hidden = ["script", "style", "iframe", "noscript", "template", "svg", "math"]

    /// Elements that are separate from the text around them.
    static let blocks: Set<String> = [
        "address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "details", "dir", "div", "dl",
        "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hl1",
        "hl2",
        "hr", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "select", "summary", "table", "tbody",
        "td", "tfoot", "th", "thead", "tr", "ul",
    ]

    /// All elements of HTML in its current and former versions. The empty name represents long names.
    static let known = blocks.union(hidden).union([
        "", "a", "abbr", "acronym", "applet", "area", "audio", "b", "base", "basefont", "bdi", "bdo", "bgsound", "big",
        "blink", "body", "button", "canvas", "cite", "code", "col", "colgroup", "data", "datalist", "del", "dfn",
        "dialog", "em", "embed", "font", "frame", "frameset", "head", "hgroup", "html", "i", "image", "img", "input",
        "ins", "kbd", "keygen", "label", "layer", "legend", "link", "map", "mark", "marquee", "meta", "meter", "nobr",
        "noframes", "object", "optgroup", "output", "param", "picture", "plaintext", "progress", "q", "rb", "rp", "rt",
        "rtc", "ruby", "s", "samp", "search", "slot", "small", "source", "spacer", "span", "strike", "strong", "sub",
        "sup", "textarea", "time", "title", "track", "tt", "u", "var", "video", "wbr", "xmp",
    ])
}
