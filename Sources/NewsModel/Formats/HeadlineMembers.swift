// The headline in several languages.

extension Members {
    /// Reads `headlines` of a news-event: an object of language and text. Blank texts count as absent.
    func headlines() throws(Undecodable) -> [NewsEvent.Headline] {
        guard let member = member(.headlines) else { return [] }
        guard case .object(let object) = member.value else {
            throw .wrongType("headlines", wanted: "an object of language and text", found: member.value)
        }
        var headlines: [NewsEvent.Headline] = []
        for entry in object {
            if case .null = entry.value { continue }
            let path = FieldName(parent: "headlines.", name: entry.name)
            guard
                let language = try EventText.identifier(
                    .string(entry.name), name: path, limit: EventLimits.language),
                let text = try EventText.prose(entry.value, name: path, limit: EventLimits.headline, cuts: true)
            else { continue }
            guard headlines.count < EventLimits.headlines else {
                throw Undecodable(.tooMany, "headlines has more than \(EventLimits.headlines) members")
            }
            guard !headlines.contains(language) else {
                throw Undecodable(
                    .duplicateKey, "\(Undecodable.quote(entry.name)) is given more than once in headlines")
            }
            headlines.append(NewsEvent.Headline(language: language, text: text))
        }
        return headlines
    }

    /// Reads ninjs `headlines` that name their language. The first main one of each language counts.
    ///
    /// - Parameter inner: memory for the objects inside the document.
    func ninjsHeadlines(_ inner: inout Members) throws(Undecodable) -> [NewsEvent.Headline] {
        guard case .array(let array)? = member(.headlines)?.value else { return [] }
        var headlines: [NewsEvent.Headline] = []
        var areMain: [Bool] = []
        for value in array {
            guard case .object(let object) = value else { continue }
            inner.read(object)
            guard let language = try inner.identifier(.language, limit: EventLimits.language),
                let text = try inner.prose(.value, limit: EventLimits.headline)
            else { continue }
            var isMain = true
            if case .string(let role)? = inner.member(.role)?.value {
                if role == "creditline" { continue }
                isMain = role == "main"
            }
            let headline = NewsEvent.Headline(language: language, text: text)
            if let known = headlines.index(of: language) {
                guard isMain, !areMain[known] else { continue }
                headlines[known] = headline
                areMain[known] = true
            } else {
                guard headlines.count < EventLimits.headlines else { break }
                headlines.append(headline)
                areMain.append(isMain)
            }
        }
        return headlines
    }
}

extension [NewsEvent.Headline] {
    /// - Parameter language: the language, compared by `LanguageTag`.
    func index(of language: String) -> Int? {
        firstIndex { LanguageTag.areEqual($0.language, language) }
    }

    fileprivate func contains(_ language: String) -> Bool { index(of: language) != nil }
}
