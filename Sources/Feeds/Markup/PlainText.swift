import ByteText

/// Plain text as a phone shows it: no markup, single blanks, no character that hides or turns its neighbours.
package enum PlainText {
    /// The text of HTML in one linear pass: elements without their tags, scripts and the like without their content,
    /// references replaced once.
    ///
    /// - Parameter limit: bytes of UTF-8; a longer text is cut between two visible characters.
    /// - Returns: `nil` when nothing visible is left.
    package static func ofHTML(_ html: some Collection<UInt8>, limit: Int) -> String? {
        html.withContiguousStorageIfAvailable { ofHTML($0, limit: limit) }
            ?? Array(html).withUnsafeBufferPointer { ofHTML($0, limit: limit) }
    }

    /// The same for what is plain text already: `<` and `&` are themselves.
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
                    // `<jane@example.org>` is an address.
                    visible.append(bytes, token.start..<token.end)
                    continue
                }
                if token.kind == .startTag, token.inside.isEmpty, !HTMLElements.known.contains(name) {
                    if closed == nil { closed = HTMLElements.closed(in: bytes) }
                    if !(closed?.contains(name) ?? false) {
                        // The headline is about `Array<Element>`.
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

/// What matters about HTML's elements here.
private enum HTMLElements {
    /// Without prefix and in lower case; `nil` for what cannot be an element of HTML or XHTML.
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
        // Longer than any that matters; not to be copied.
        return local.count > 15 ? "" : bytes.text(local).asciiLowercased
    }

    /// The names of all end tags, so that each start tag need not search for its own.
    static func closed(in bytes: UnsafeBufferPointer<UInt8>) -> Set<String> {
        var names: Set<String> = []
        var tokens = MarkupTokens(bytes)
        while let token = tokens.next() {
            if token.kind == .endTag, let name = name(bytes, token.name) { names.insert(name) }
        }
        return names
    }

    /// Their content is not for readers.
    static let hidden = ["script", "style", "iframe", "noscript", "template", "svg", "math"]

    /// They stand apart from the text around them.
    static let blocks: Set<String> = [
        "address", "article", "aside", "blockquote", "br", "caption", "center", "dd", "details", "dir", "div", "dl",
        "dt",
        "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hl1",
        "hl2",
        "hr", "li", "main", "menu", "nav", "ol", "option", "p", "pre", "section", "select", "summary", "table", "tbody",
        "td", "tfoot", "th", "thead", "tr", "ul",
    ]

    /// All of HTML, in its present and former versions. The empty name stands for long ones.
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
