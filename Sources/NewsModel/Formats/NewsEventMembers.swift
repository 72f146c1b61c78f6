// Our own document, `schemas/news-event.schema.json`.

extension Members {
    /// - Parameter envelope: supplies a missing id or time. It receives the id before another error can occur.
    func newsEvent(_ envelope: inout Envelope) throws(Undecodable) -> NewsEvent {
        let id = try id(.id, &envelope)
        try requireUniqueNames()
        let status = try status(.status)
        try requireClearNames(
            isWithdrawal: status != .usable, envelope, otherEmbargo: .embargoed, otherStatus: .pubStatus)
        do throws(Undecodable) {
            return try newsEvent(id, status, envelope)
        } catch {
            guard status != .usable else { throw error }
            return try withdrawal(id, status, envelope)
        }
    }

    /// Reads a recall, or an event that is withheld. It takes effect despite other errors, such as a missing headline: only the id, the
    /// story and the stamps decide its target.
    func withdrawal(
        _ id: String, _ status: NewsEvent.Status, _ envelope: borrowing Envelope
    ) throws(Undecodable) -> NewsEvent {
        NewsEvent(
            id: id, headline: "", categories: (try? categories()) ?? [], subjects: (try? subjects()) ?? [],
            story: try identifier(.story, limit: EventLimits.story), version: try? version(), status: status,
            publishedAt: try? publishedAt(envelope), environment: try environment(envelope),
            isTest: try flag(.test) ?? false, users: status == .withheld ? (try? users()) ?? [] : [],
            interests: (try? interests()) ?? [])
    }

    private func newsEvent(
        _ id: String, _ status: NewsEvent.Status, _ envelope: borrowing Envelope
    ) throws(Undecodable) -> NewsEvent {
        guard let headline = try prose(.headline, limit: EventLimits.headline) else {
            throw Undecodable(
                .missingHeadline, "headline is missing or blank; a notification has nothing to say without it")
        }
        // A blank embargo has no known end: only a later version can release the event.
        let isEndless = status == .usable && isBlank(.embargoUntil)
        return NewsEvent(
            id: id, headline: headline, categories: try categories(), subjects: try subjects(),
            summary: try prose(.summary, limit: EventLimits.summary),
            language: try identifier(.language, limit: EventLimits.language), urgency: try urgency(),
            story: try identifier(.story, limit: EventLimits.story), version: try version(),
            status: isEndless ? .withheld : status, publishedAt: try publishedAt(envelope),
            expiresAt: try instant(.expiresAt), embargoUntil: isEndless ? .distantFuture : try instant(.embargoUntil),
            link: try identifier(.link, limit: EventLimits.address),
            image: try identifier(.image, limit: EventLimits.address), environment: try environment(envelope),
            isTest: try flag(.test) ?? false, users: try users(), data: try dataFields(), headlines: try headlines(),
            interests: has(.interests) ? try interests() : [])
    }

    /// The environment by the stamps of document and record. Different stamps match no environment, so that no process
    /// accepts the event. The same holds for a lone empty stamp, because its sender meant some environment.
    func environment(_ envelope: borrowing Envelope) throws(Undecodable) -> String? {
        guard let own = try identifier(.environment, limit: EventLimits.environment) else {
            return envelope.environment ?? (isBlank(.environment) ? "" : nil)
        }
        guard let header = envelope.environment, !header.isEmpty, header.lowercased() != own.lowercased() else {
            return own
        }
        return "\(own), \(header)"
    }

    /// Reads `category` and `categories` together.
    private func categories() throws(Undecodable) -> [String] {
        var categories: [String] = []
        if let category = try identifier(.category, limit: EventLimits.category) { categories = [category] }
        try append(.categories, to: &categories)
        return categories
    }

    private func publishedAt(_ envelope: borrowing Envelope) throws(Undecodable) -> Instant? {
        if let own = try instant(.publishedAt) { return own }
        return try envelope.publishedAt()
    }

    private func subjects() throws(Undecodable) -> [String] {
        var subjects: [String] = []
        try append(.subjects, to: &subjects)
        for index in subjects.indices {
            var code = subjects[index]
            subjects[index] = code.withUTF8 { MediaTopic.canonical($0) } ?? code
        }
        return subjects
    }

    /// The document's id, else the envelope's.
    func id(_ field: Field, _ envelope: inout Envelope) throws(Undecodable) -> String {
        if let id = try identifier(field, limit: EventLimits.id) {
            envelope.eventID = id
            return id
        }
        // An id given twice is reported as such, not as missing.
        try requireUniqueNames()
        if let id = envelope.id { return id }
        let name = field == .uri ? "uri" : "id"
        throw Undecodable(.missingID, "\(name) is missing or blank; without it an update could not replace the event")
    }

    private func append(_ field: Field, to texts: inout [String]) throws(Undecodable) {
        guard let member = member(field) else { return }
        let name = String(decoding: member.name, as: UTF8.self)
        guard case .array(let array) = member.value else {
            throw .wrongType(name, wanted: "an array of strings", found: member.value)
        }
        for (index, value) in array.enumerated() {
            guard index < EventLimits.categories else {
                throw Undecodable(.tooMany, "\(name) has more than \(EventLimits.categories) members")
            }
            let name = FieldName(parent: "a member of ", name: member.name)
            if let text = try EventText.identifier(value, name: name, limit: EventLimits.category) {
                texts.append(text)
            }
        }
    }

    private func dataFields() throws(Undecodable) -> [NewsEvent.DataField] {
        guard let member = member(.data) else { return [] }
        guard case .object(let object) = member.value else {
            throw .wrongType("data", wanted: "an object of strings", found: member.value)
        }
        var fields: [NewsEvent.DataField] = []
        for (index, entry) in object.enumerated() {
            guard index < EventLimits.dataFields else {
                throw Undecodable(.tooMany, "data has more than \(EventLimits.dataFields) members")
            }
            let path = FieldName(parent: "data.", name: entry.name)
            let name = try EventText.identifier(.string(entry.name), name: path, limit: EventLimits.dataName)
            guard let name else { continue }
            if fields.contains(where: { $0.name == name }) {
                throw Undecodable(.duplicateKey, "\(Undecodable.quote(entry.name)) is given more than once in data")
            }
            let value: String
            switch entry.value {
            case .null: continue
            case .string: value = try EventText.prose(entry.value, name: path, limit: EventLimits.dataValue) ?? ""
            case .boolean(let flag): value = flag ? "true" : "false"
            case .integer, .unsigned, .number: value = EventText.numeral(entry.value) ?? ""
            case .array, .object: throw .wrongType(path.description, wanted: "a string", found: entry.value)
            }
            fields.append(NewsEvent.DataField(name: name, value: value))
        }
        return fields
    }
}
