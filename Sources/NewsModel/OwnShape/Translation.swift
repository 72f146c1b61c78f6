import ByteText

/// The value of one member of an event, and the pointer that gave it; for people.
package struct MappedValue: Hashable, Sendable {
    /// The member, such as `headline` or `data.kicker`.
    package var member: String
    /// `nil` for the value of `else`.
    package var pointer: String?
    package var value: String
}

/// Translates a document of a newsroom's own shape into a `news-event` document. The decoder of that document checks the
/// values, so both shapes have the same rules.
struct Translation {
    private let format: EventFormat
    private let root: JSONValue
    /// Collected only if they are wanted.
    private(set) var values: [MappedValue] = []
    private let collectsValues: Bool
    /// The event is a recall or is withheld, so that errors of most members do not count.
    private var isWithdrawal = false

    /// The most bytes of a value that people are shown.
    private static let shownMax = 256

    /// One value found, and its pointer.
    fileprivate struct Found {
        var value: JSONValue
        /// The text that replaces the value.
        var text: String?
        var pointer: JSONPointer?
        /// A list that names nobody, or has elements that name nobody.
        var isNobody = false
    }

    init(_ document: JSONObject, by format: EventFormat, collectsValues: Bool) {
        self.collectsValues = collectsValues
        root = .object(document)
        self.format = format
    }

    /// - Parameter eventID: receives the id before another error can occur.
    mutating func document(_ eventID: inout String?) throws(Undecodable) -> [UInt8] {
        var members: [(EventMember, JSONTree)] = []
        for mapped in format.members {
            guard let tree = try tree(of: mapped) else { continue }
            if mapped.member == .id, case .text(let id) = tree { eventID = EventText.knownID(id) ?? eventID }
            if mapped.member == .status, case .text(let status) = tree {
                isWithdrawal = status.hasPrefix("cancel") || status == "withheld"
            }
            members.append((mapped.member, tree))
        }
        return JSONWriter.object { json in
            for (member, tree) in members {
                json.name(escaping: member.rawValue)
                tree.write(into: &json)
            }
        }
    }

    private mutating func tree(of mapped: MappedMember) throws(Undecodable) -> JSONTree? {
        do throws(Undecodable) {
            guard mapped.member.isObject, mapped.sources.contains(where: { $0.name != nil }) else {
                return try mapped.sources.first.flatMap { source throws(Undecodable) in
                    try tree(
                        of: source, mapped.member.shape, mapped.member.rawValue, areReaders: mapped.member == .users)
                }
            }
            var named: [(String, JSONTree)] = []
            for source in mapped.sources {
                guard let name = source.name else { continue }
                let member = "\(mapped.member.rawValue).\(name)"
                if let tree = try tree(of: source, .text, member) { named.append((name, tree)) }
            }
            return .object(named)
        } catch {
            guard isWithdrawal, !mapped.member.countsForWithdrawals else { throw error }
            return nil
        }
    }

    private mutating func tree(
        of source: MemberSource, _ shape: EventMember.Shape, _ member: String, areReaders: Bool = false
    ) throws(Undecodable) -> JSONTree? {
        let found: [Found]
        do throws(Undecodable) {
            found = try find(source, isList: shape == .texts, areReaders: areReaders)
        } catch {
            throw format.problem(error, at: "\(member) from \(source.place)")
        }
        guard let first = found.first else { return nil }
        let tree: JSONTree =
            switch shape {
            case .texts: first.isEmptyList ? .array([]) : .array(found.map { $0.tree(.texts) })
            default: first.tree(shape)
            }
        guard collectsValues else { return tree }
        values += found.map {
            MappedValue(
                member: member, pointer: $0.pointer?.description,
                value: $0.tree(shape).shown.cut(toBytes: Self.shownMax))
        }
        return tree
    }

    // MARK: Finding

    /// The values of the first pointer that finds any that is not blank. If all are blank, returns the first one, because a
    /// blank text has a meaning for some members: an embargo without an end.
    ///
    /// - Parameter areReaders: a list that is there and names nobody, or names somebody only in part, is an error of the event: it
    ///   must not become news for everybody.
    private func find(_ source: MemberSource, isList: Bool, areReaders: Bool) throws(Undecodable) -> [Found] {
        var blank: Found?
        for pointer in source.pointers {
            var found: [Found] = []
            func receive(_ value: JSONValue) -> Bool {
                switch value {
                case .null: return true
                case .string(let text) where EventText.isBlank(text):
                    blank = blank ?? Found(value: value, pointer: pointer)
                    return true
                case .array(let array) where isList:
                    // An empty list of readers is an error of the event, not an event for everybody.
                    var isEmpty = true
                    for element in array {
                        isEmpty = false
                        guard found.count <= EventLimits.categories else { return false }
                        found.append(Found(value: element, pointer: pointer))
                    }
                    if isEmpty { blank = blank ?? Found(value: value, pointer: pointer) }
                    return true
                default:
                    found.append(Found(value: value, pointer: pointer))
                    // One more than any list of an event may have, so that the decoder finds it too long.
                    return isList && found.count <= EventLimits.categories
                }
            }
            try pointer.visit(in: root) { value throws(Undecodable) in receive(value) }
            if areReaders, let least = try elements(of: pointer), found.count < least {
                return [Found(value: .null, pointer: pointer, isNobody: true)]
            }
            guard !found.isEmpty else { continue }
            return try found.map { one throws(Undecodable) in try meaning(of: one, source) }
        }
        if let text = source.otherwise { return [Found(value: .null, text: text)] }
        return blank.map { [$0] } ?? []
    }

    /// The fewest values that a pointer with `*` must find: one for each element of its array, and at least one if anything but
    /// null stands there; `nil` if nothing does, or without a `*`.
    private func elements(of pointer: JSONPointer) throws(Undecodable) -> Int? {
        var least: Int?
        try pointer.visitList(in: root) { value in
            switch value {
            case .null: break
            case .array(let array): least = max(1, array.reduce(0) { count, _ in count + 1 })
            default: least = 1
            }
            return true
        }
        return least
    }

    /// Applies `values`, `else` and `as`.
    private func meaning(of found: Found, _ source: MemberSource) throws(Undecodable) -> Found {
        var found = found
        if let values = source.values {
            guard let text = found.value.scalarText else {
                throw Undecodable(.unmappedValue, "\(found.value.kind) has no entry under values")
            }
            guard let meaning = values[text] ?? source.otherwise else {
                let quoted = text.withBytes { Undecodable.quote($0) }
                throw Undecodable(.unmappedValue, "\(quoted) has no entry under values, and there is no else")
            }
            found.text = meaning
        }
        if let unit = source.unit { found.text = try time(found, unit) }
        return found
    }

    /// The time as RFC 3339. A text that is one already stays: a schema's logical type may have made it of the number.
    private func time(_ found: Found, _ unit: MemberSource.TimeUnit) throws(Undecodable) -> String {
        let text = found.text ?? found.value.scalarText ?? ""
        if Instant(rfc3339: text) != nil { return text }
        guard let number = Double(text), number.isFinite else {
            throw Undecodable(.badDate, "\(unit.rawValue) must be a number; it is \(found.value.kind)")
        }
        if let whole = Int64(text) {
            return Instant(whole, perSecond: Int64(unit.perSecond)).description
        }
        let nanoseconds = (number / unit.perSecond * 1e9).rounded()
        return Instant(nanoseconds: Int64(exactly: nanoseconds) ?? (number < 0 ? .min : .max)).description
    }
}

extension Translation.Found {
    /// True for a list of the document without elements.
    fileprivate var isEmptyList: Bool {
        if isNobody { return true }
        return if text == nil, case .array(let array) = value { !array.contains { _ in true } } else { false }
    }

    /// The value in the form that a member of this shape has in a `news-event`. What does not fit stays as it is, so that the
    /// decoder names the problem.
    fileprivate func tree(_ shape: EventMember.Shape) -> JSONTree {
        // true and false are no names of readers or categories.
        let isFlag = if case .boolean = value { true } else { false }
        let text = text ?? (shape == .object || shape == .time || shape == .texts && isFlag ? nil : value.scalarText)
        switch (shape, text) {
        case (.number, let text?): return Int64(text).map(JSONTree.number) ?? .text(text)
        case (.flag, let text?): return Bool(text).map(JSONTree.flag) ?? .text(text)
        case (_, let text?): return .text(text)
        case (_, nil): return .value(value)
        }
    }
}

extension Instant {
    /// - Parameter count: a count of units since 1970; a time that does not fit becomes the distant past or future.
    fileprivate init(_ count: Int64, perSecond: Int64) {
        let (product, overflow) = count.multipliedReportingOverflow(by: 1_000_000_000 / perSecond)
        self.init(nanoseconds: overflow ? (count < 0 ? .min : .max) : product)
    }
}

extension EventText {
    /// An id that may stand in a report; `nil` if the decoder would refuse it.
    fileprivate static func knownID(_ text: String) -> String? {
        text.withBytes { bytes in
            try? identifier(.string(bytes), name: FieldName(name: bytes), limit: EventLimits.id)
        }
    }
}

/// A value to write as JSON.
private indirect enum JSONTree {
    case value(JSONValue)
    case text(String)
    case number(Int64)
    case flag(Bool)
    case array([JSONTree])
    case object([(String, JSONTree)])

    func write(into json: inout JSONWriter) {
        switch self {
        case .value(let value): json.value(value)
        case .text(let text): json.value(text)
        case .number(let number): json.value(number)
        case .flag(let flag): json.value(flag)
        case .array(let elements):
            json.array { json in
                for element in elements { element.write(into: &json) }
            }
        case .object(let members):
            json.object { json in
                for (name, tree) in members {
                    json.name(escaping: name)
                    tree.write(into: &json)
                }
            }
        }
    }

    /// The value as text for people.
    var shown: String {
        if case .text(let text) = self { return text }
        var bytes: [UInt8] = []
        JSONWriter.write(into: &bytes) { write(into: &$0) }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension JSONWriter {
    /// Writes a value of a document that was read. The parser bounds its depth.
    mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .boolean(let flag): self.value(flag)
        case .integer(let number): self.value(number)
        case .unsigned(let number): raw(String(number).utf8)
        case .number(let number): self.value(number)
        case .string(let text): self.value(String(decoding: text, as: UTF8.self))
        case .array(let array):
            self.array { json in
                for element in array { json.value(element) }
            }
        case .object(let object):
            self.object { json in
                for member in object {
                    json.name(escaping: String(decoding: member.name, as: UTF8.self))
                    json.value(member.value)
                }
            }
        }
    }
}
