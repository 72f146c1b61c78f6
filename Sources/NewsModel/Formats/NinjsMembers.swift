// IPTC ninjs 1.x to 3.x, as agencies send it: news items, events and planning items.

extension Members {
    /// `uri` is the id, which all versions of an item share; Superdesk calls it `guid`. Without `version`, `versionCreated` is
    /// the version.
    ///
    /// - Parameter envelope: supplies a missing id or time. It receives the id before another error can occur.
    /// - Parameter inner: memory for the objects inside the document.
    func ninjs(_ envelope: inout Envelope, _ inner: inout Members) throws(Undecodable) -> NewsEvent {
        let idField: Field = has(.uri) || !has(.guid) ? .uri : .guid
        let id = try id(idField, &envelope)
        try requireUniqueNames()
        let status = try status(.pubStatus)
        try requireClearNames(
            isWithdrawal: status != .usable, envelope, otherEmbargo: .embargoUntil, otherStatus: .status)
        do throws(Undecodable) {
            return try ninjs(id, status, envelope, &inner)
        } catch {
            guard status != .usable else { throw error }
            // A recall, or an item that is withheld, often has no headline.
            var event = NewsEvent(id: id, headline: "", status: status)
            event.version = try? ninjsVersion()
            event.environment = try environment(envelope)
            event.isTest = try flag(.test) ?? false
            if status == .withheld { event.users = (try? users()) ?? [] }
            return event
        }
    }

    private func ninjs(
        _ id: String, _ status: NewsEvent.Status, _ envelope: borrowing Envelope, _ inner: inout Members
    ) throws(Undecodable) -> NewsEvent {
        guard let headline = try ninjsHeadline(&inner) else {
            throw Undecodable(.missingHeadline, "headline, headlines, title and slugline are missing or blank")
        }
        var event = NewsEvent(id: id, headline: headline)
        event.summary = try ninjsSummary(&inner)
        try appendSubjects(.subjects, to: &event, &inner)
        try appendSubjects(.subject, to: &event, &inner)
        event.language = try identifier(.language, limit: EventLimits.language)
        event.headlines = try ninjsHeadlines(&inner)
        if !has(.headline), let own = event.language, let index = event.headlines.index(of: own) {
            event.headline = event.headlines[index].text
        }
        event.urgency = try urgency()
        event.status = status
        event.version = try ninjsVersion()
        event.publishedAt = try ninjsInstant(.versionCreated)
        if event.publishedAt == nil { event.publishedAt = try ninjsInstant(.contentCreated) }
        if event.publishedAt == nil { event.publishedAt = try ninjsInstant(.firstCreated) }
        if event.publishedAt == nil { event.publishedAt = try envelope.publishedAt() }
        event.expiresAt = try ninjsInstant(.expires)
        event.embargoUntil = try ninjsInstant(.embargoed)
        if isBlank(.embargoed), status == .usable {
            // Like NewsML-G2: an embargo with an unknown end.
            event.embargoUntil = .distantFuture
            event.status = .withheld
        }
        event.link = webAddress(.uri) ?? webAddress(.guid)
        event.image = picture(&inner)
        event.environment = try environment(envelope)
        event.isTest = try flag(.test) ?? false
        event.users = try users()
        event.interests = try interests()
        return event
    }

    private func ninjsVersion() throws(Undecodable) -> NewsEvent.Version? {
        if let version = try version() { return version }
        return try ninjsInstant(.versionCreated).map { NewsEvent.Version($0.description) }
    }

    /// Reads a time; Superdesk omits the colon of the offset: `+0000`.
    private func ninjsInstant(_ field: Field) throws(Undecodable) -> Instant? {
        if case .string(let text)? = member(field)?.value, text.count > 5,
            text[text.count - 5] == UInt8(ascii: "+") || text[text.count - 5] == UInt8(ascii: "-")
        {
            let bytes = Array(text.dropLast(2)) + [UInt8(ascii: ":")] + Array(text.suffix(2))
            if let instant = bytes.withUnsafeBufferPointer({ Instant(rfc3339: $0) }) { return instant }
        }
        return try instant(field)
    }

    // MARK: - Texts

    private func ninjsHeadline(_ inner: inout Members) throws(Undecodable) -> String? {
        let limit = EventLimits.headline
        if let text = try prose(.headline, limit: limit) { return text }
        if let text = try best(of: .headlines, roles: ["main"], limit: limit, &inner) { return text }
        if let text = try prose(.headlineOther, limit: limit) { return text }
        if let text = try prose(.title, limit: limit) { return text }
        return try prose(.slugline, limit: limit)
    }

    private func ninjsSummary(_ inner: inout Members) throws(Undecodable) -> String? {
        let limit = EventLimits.summary
        if let text = try prose(.descriptionText, limit: limit) { return text }
        let roles: [StaticString] = ["summary", "abstract", "short", "main", "text", "caption"]
        if let text = try best(of: .descriptions, roles: roles, limit: limit, &inner) { return text }
        return try prose(.descriptionOther, limit: limit)
    }

    /// The value whose role comes first in `roles`, else the first value that is not a credit line.
    private func best(
        of field: Field, roles: [StaticString], limit: Int, _ inner: inout Members
    ) throws(Undecodable) -> String? {
        guard let member = member(field) else { return nil }
        let name = FieldName(name: member.name).description
        guard case .array(let array) = member.value else {
            throw .wrongType(name, wanted: "an array of objects", found: member.value)
        }
        var best: (rank: Int, text: String)?
        for value in array {
            guard case .object(let object) = value else {
                throw .wrongType("a member of \(name)", wanted: "an object", found: value)
            }
            inner.read(object)
            try inner.requireUniqueNames()
            var rank = roles.count
            if case .string(let role)? = inner.member(.role)?.value {
                if role == "creditline" { continue }
                rank = roles.firstIndex { role == $0 } ?? rank
            }
            guard rank < best?.rank ?? .max, let text = try inner.prose(.value, limit: limit) else { continue }
            best = (rank, text)
        }
        return best?.text
    }

    // MARK: - Subjects

    /// Subjects with a media topic code become subjects; the names of all others may be categories.
    private func appendSubjects(
        _ field: Field, to event: inout NewsEvent, _ inner: inout Members
    ) throws(Undecodable) {
        guard let member = member(field) else { return }
        let name = FieldName(name: member.name).description
        guard case .array(let array) = member.value else {
            throw .wrongType(name, wanted: "an array of objects", found: member.value)
        }
        for value in array {
            guard event.subjects.count + event.categories.count < EventLimits.categories else {
                throw Undecodable(.tooMany, "\(name) has more than \(EventLimits.categories) members")
            }
            guard case .object(let subject) = value else {
                throw .wrongType("a member of \(name)", wanted: "an object", found: value)
            }
            inner.read(subject)
            try inner.requireUniqueNames()
            if let code = inner.mediaTopic {
                event.subjects.append(code)
            } else if let category = try inner.prose(.name, limit: EventLimits.category) {
                event.categories.append(category)
            }
        }
    }

    /// The media topic of the subject just read. Bare digits count only if the subject names no other vocabulary,
    /// because other codes may have eight digits too.
    private var mediaTopic: String? {
        if let uri = text(.uri), let topic = MediaTopic.canonical(uri) { return topic }
        let scheme = text(.scheme)
        let isForeign = text(.uri) != nil || scheme.map { !Self.isNewsCodes($0) } ?? false
        for text in [text(.code), text(.literal)] {
            guard let text, let topic = MediaTopic.canonical(text), text.count > 8 || !isForeign else { continue }
            return topic
        }
        return nil
    }

    private static func isNewsCodes(_ scheme: JSONText) -> Bool {
        scheme == "medtop" || scheme == "subj" || MediaTopic.isNewsCodesAddress(scheme)
    }

    private func text(_ field: Field) -> JSONText? {
        guard case .string(let text)? = member(field)?.value, !text.isEmpty else { return nil }
        return text
    }

    // MARK: - Addresses: optional, so an invalid one is left out

    private func webAddress(_ field: Field) -> String? {
        guard let text = text(field), text.starts(with: "https://") || text.starts(with: "http://") else { return nil }
        return try? identifier(field, limit: EventLimits.address)
    }

    /// The item's own picture, else that of the first association that has one.
    private func picture(_ inner: inout Members) -> String? {
        if let image = bestRendition(&inner) { return image }
        guard let associations = member(.associations)?.value else { return nil }
        var associated = inner
        for association in associations.elements {
            guard case .object(let object) = association else { continue }
            associated.read(object)
            if let type = associated.text(.type), !(type == "picture"), !(type == "graphic") { continue }
            if let image = associated.bestRendition(&inner) { return image }
        }
        return nil
    }

    /// The widest rendition up to 1,200 pixels, which fills a phone's notification; else the narrowest.
    private func bestRendition(_ inner: inout Members) -> String? {
        guard let renditions = member(.renditions)?.value else { return nil }
        var best: (score: Double, address: String)?
        for rendition in renditions.elements {
            guard case .object(let object) = rendition else { continue }
            inner.read(object)
            if let type = inner.text(.contentType), !type.starts(with: "image/") { continue }
            guard let address = inner.webAddress(.href) else { continue }
            let width: Double =
                switch inner.member(.width)?.value {
                case .integer(let width)?: Double(width)
                case .number(let width)?: width
                default: 0
                }
            let score = width <= 1_200 ? width : -width
            if score > best?.score ?? -.infinity { best = (score, address) }
        }
        return best?.address
    }
}

extension JSONValue {
    /// ninjs 1.x lists things as members of an object, later versions as an array.
    fileprivate var elements: [JSONValue] {
        switch self {
        case .array(let array): Array(array)
        case .object(let object): object.map(\.value)
        default: []
        }
    }
}
