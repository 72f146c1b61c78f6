import ByteText

/// The known members of one JSON object, by field. Reused from object to object.
struct Members {
    struct Member {
        /// The name as in the document, for messages.
        var name: JSONText
        var value: JSONValue
    }

    private let table: FieldTable
    private var slots: [Member]
    /// The slots filled by the object read last, as bits; all others hold pointers that are no longer valid.
    private var present: UInt64 = 0
    /// The fields that occurred twice, as bits.
    private var ambiguous: UInt64 = 0
    /// The first name that occurred twice. Only `requireUniqueNames` reports it, so that the id can be read first.
    private var repeated: (name: JSONText, field: Field)?
    /// An unknown name close to a field that narrows the audience; fields that limit recalls take precedence. Only
    /// `requireClearNames` reports it.
    private var near: NearName?

    init(table: FieldTable) {
        self.table = table
        slots = Array(
            repeating: Member(name: JSONText(start: nil, count: 0), value: .null), count: Field.allCases.count)
    }

    /// Forgets the last object and reads this one.
    mutating func read(_ object: JSONObject) {
        present = 0
        ambiguous = 0
        repeated = nil
        near = nil
        for member in object {
            guard let field = table.field(named: member.name) else {
                note(unknown: member.name, member.value)
                continue
            }
            let bit: UInt64 = 1 << UInt64(field.rawValue)
            guard present & bit == 0 else {
                // Names of one pattern differ from each other, so the first of them is used.
                if field == .headlineOther || field == .descriptionOther { continue }
                ambiguous |= bit
                if repeated == nil { repeated = (member.name, field) }
                continue
            }
            present |= bit
            slots[Int(field.rawValue)] = Member(name: member.name, value: member.value)
        }
    }

    @inline(never)
    private mutating func note(unknown name: JSONText, _ value: JSONValue) {
        guard let meant = NarrowingField.meant(by: name), near == nil || meant.limitsRecalls else { return }
        // As for known fields, null means absent. False says that there is no embargo and no test.
        if case .null = value { return }
        if value.isFalse, meant == .test || meant == .embargoUntil { return }
        near = NearName(meant: meant, name: name)
    }

    /// `nil` when absent, null, or given twice, in which case neither value is used.
    func member(_ field: Field) -> Member? {
        guard present & ~ambiguous & (1 << UInt64(field.rawValue)) != 0 else { return nil }
        let member = slots[Int(field.rawValue)]
        if case .null = member.value { return nil }
        return member
    }

    func has(_ field: Field) -> Bool { member(field) != nil }

    /// Refuses names that are close to those of fields that narrow the audience.
    ///
    /// - Parameters:
    ///   - isWithdrawal: true for a recall or a withheld event. It is refused only for names that limit its effect.
    ///   - otherEmbargo: the embargo field of the other format, which this format does not read.
    ///   - otherStatus: the status field of the other format, which this format does not read.
    func requireClearNames(
        isWithdrawal: Bool, _ envelope: borrowing Envelope, otherEmbargo: Field, otherStatus: Field
    ) throws(Undecodable) {
        if let misplaced = envelope.misplaced, !isWithdrawal || misplaced.meant.limitsRecalls {
            throw .misplaced(misplaced.name, meant: misplaced.meant)
        }
        if let near, !isWithdrawal || near.meant.limitsRecalls {
            throw .nearName(Undecodable.quote(near.name), meant: near.meant.name)
        }
        guard !isWithdrawal else { return }
        if let member = member(otherEmbargo), !member.value.isFalse {
            let meant: StaticString = otherEmbargo == .embargoed ? "embargoUntil" : "embargoed"
            throw .nearName(Undecodable.quote(member.name), meant: meant)
        }
        if let member = member(otherStatus), let status = try? status(otherStatus), status != .usable {
            throw .nearName(Undecodable.quote(member.name), meant: otherStatus == .pubStatus ? "status" : "pubstatus")
        }
    }

    /// Refuses narrowing fields in the object around a document, where they would have no effect.
    func requireNoNarrowing() throws(Undecodable) {
        for narrowing in NarrowingField.allCases {
            if let member = member(narrowing.field) { throw .besideData(Undecodable.quote(member.name)) }
        }
        if let near { throw .besideData(Undecodable.quote(near.name)) }
    }

    func requireUniqueNames() throws(Undecodable) {
        guard let repeated else { return }
        let first = slots[Int(repeated.field.rawValue)].name
        let spelling =
            first.elementsEqual(repeated.name) ? "" : " (also spelled \(Undecodable.quote(first)))"
        throw Undecodable(.duplicateKey, "\(Undecodable.quote(repeated.name)) is given more than once\(spelling)")
    }
}

// MARK: - Typed reading; blank texts count as absent

extension Members {
    /// Reads a text that names something: no control characters.
    func identifier(_ field: Field, limit: Int) throws(Undecodable) -> String? {
        guard let member = member(field) else { return nil }
        return try EventText.identifier(member.value, name: FieldName(name: member.name), limit: limit)
    }

    /// Reads a text for people, cleaned by `EventText.prose` and cut to `limit`.
    func prose(_ field: Field, limit: Int) throws(Undecodable) -> String? {
        guard let member = member(field) else { return nil }
        return try EventText.prose(member.value, name: FieldName(name: member.name), limit: limit, cuts: true)
    }

    func instant(_ field: Field) throws(Undecodable) -> Instant? {
        guard let member = member(field) else { return nil }
        let name = FieldName(name: member.name)
        guard case .string(let text) = member.value else {
            throw .wrongType(name.description, wanted: "a string", found: member.value)
        }
        if EventText.isBlank(text) { return nil }
        guard let instant = Instant(rfc3339: text) else {
            let example = "RFC 3339 date and time with an offset, like 2026-11-21T01:02:03Z"
            throw Undecodable(.badDate, "\(name) must be an \(example); it is \(Undecodable.quote(text))")
        }
        return instant
    }

    /// True if the field is present but blank.
    func isBlank(_ field: Field) -> Bool {
        guard case .string(let text)? = member(field)?.value else { return false }
        return EventText.isBlank(text)
    }

    func urgency() throws(Undecodable) -> Int? {
        guard let member = member(.urgency) else { return nil }
        let found: String
        switch member.value {
        case .integer(let number):
            if (1...9).contains(number) { return Int(number) }
            found = String(number)
        case .number(let number):
            // JSON Schema counts 4.0 among the integers.
            if let whole = Int(exactly: number), (1...9).contains(whole) { return whole }
            found = String(number)
        case .unsigned(let number): found = String(number)
        default: throw .wrongType("urgency", wanted: "a number from 1 to 9", found: member.value)
        }
        throw Undecodable(.badUrgency, "urgency must be a whole number from 1 to 9; it is \(found)")
    }

    func flag(_ field: Field) throws(Undecodable) -> Bool? {
        guard let member = member(field) else { return nil }
        guard case .boolean(let flag) = member.value else {
            throw .wrongType(FieldName(name: member.name).description, wanted: "true or false", found: member.value)
        }
        return flag
    }

    func version() throws(Undecodable) -> NewsEvent.Version? {
        guard let member = member(.version) else { return nil }
        if let text = EventText.numeral(member.value) { return NewsEvent.Version(text) }
        guard case .string = member.value else {
            throw .wrongType("version", wanted: "a string or a number", found: member.value)
        }
        return try identifier(.version, limit: EventLimits.version).map { NewsEvent.Version($0) }
    }

    func status(_ field: Field) throws(Undecodable) -> NewsEvent.Status {
        guard let member = member(field) else { return .usable }
        let name = FieldName(name: member.name)
        guard case .string(let text) = member.value else {
            throw .wrongType(name.description, wanted: "a string", found: member.value)
        }
        if text == "usable" || EventText.isBlank(text) { return .usable }
        // Case does not count, so that a kill takes effect however its sender writes it. The prefix is longer than every word.
        switch String(decoding: text.prefix(16), as: UTF8.self).asciiLowercased {
        case "usable": return .usable
        case "withheld": return .withheld
        // IPTC spells it with one l; senders sometimes use two.
        case "canceled", "cancelled": return .canceled
        default:
            let words = "usable, withheld or canceled"
            throw Undecodable(.unknownStatus, "\(name) must be \(words); it is \(Undecodable.quote(text))")
        }
    }
}

extension JSONValue {
    fileprivate var isFalse: Bool { if case .boolean(false) = self { true } else { false } }
}
