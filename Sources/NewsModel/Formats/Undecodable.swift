/// The reason why a record is not a news event.
public struct Undecodable: Error, Sendable, Hashable {
    public var reason: Reason
    /// One sentence, at most about 300 characters; names the field and, where it helps, the byte.
    public var detail: String
    /// The event's id, if it could be read.
    public var eventID: String?
    /// The name of the format in `events.formats` that the record has; `nil` for the built-in ones.
    public var format: String?
    /// The id of the schema without which nothing is known about the record. It can be decoded once the schema is here.
    public var awaitedSchema: UInt32?

    public init(_ reason: Reason, _ detail: String, eventID: String? = nil) {
        self.reason = reason
        self.detail = detail
        self.eventID = eventID
    }

    /// The raw value is the stable code in a result's `error.code`.
    public enum Reason: String, CaseIterable, Sendable, Hashable {
        /// A record with a key but no value.
        case tombstone
        /// A value without bytes, or with only white space.
        case empty
        case tooLarge = "too-large"
        case invalidUTF8 = "invalid-utf8"
        /// The document ends before it is complete.
        case truncatedJSON = "truncated-json"
        case invalidJSON = "invalid-json"
        /// Nested deeper than any news document.
        case tooDeep = "too-deep"
        /// A number that does not fit into 64 bits.
        case numberOutOfRange = "number-out-of-range"
        /// A JSON array or single value instead of an object.
        case notAnObject = "not-an-object"
        case wrongType = "wrong-type"
        case duplicateKey = "duplicate-key"
        case missingID = "missing-id"
        /// A headline that is absent or blank, without a substitute.
        case missingHeadline = "missing-headline"
        /// A date that is not RFC 3339, or has no offset.
        case badDate = "bad-date"
        /// An urgency outside 1…9.
        case badUrgency = "bad-urgency"
        case unknownStatus = "unknown-status"
        /// `users` is present but not a list of 1 to 20 user ids.
        case badUsers = "bad-users"
        /// A name close to that of a field that narrows the audience, such as `Users`. Also such a field beside the
        /// data of a CloudEvent.
        case nearName = "near-name"
        /// A text is longer than `EventLimits` allows.
        case tooLong = "too-long"
        /// A list has more members than `EventLimits` allows.
        case tooMany = "too-many"
        /// A control character in a text that names something.
        case controlCharacter = "control-character"
        /// A value of a newsroom's own format has no entry under `values`, and there is no `else`.
        case unmappedValue = "unmapped-value"
        /// Bytes that are not what their Avro schema says.
        case badAvro = "bad-avro"
        /// The schema registry does not have the schema that the record names.
        case unknownSchema = "unknown-schema"
        /// A schema that cannot be used: Protobuf, or one with an error.
        case unusableSchema = "unusable-schema"
        /// An envelope of an unknown version, or without usable data.
        case badCloudEvent = "bad-cloudevent"
        /// A word outside a closed list, in a result record.
        case unknownWord = "unknown-word"
        case outOfMemory = "out-of-memory"
    }
}

extension Undecodable {
    /// A text from the document, shortened and cleaned for use in a sentence.
    static func quote(_ text: JSONText) -> String {
        var quoted = "\u{201C}"
        for (index, character) in String(decoding: text.prefix(240), as: UTF8.self).unicodeScalars.enumerated() {
            guard index < 40 else { return quoted + "…\u{201D}" }
            quoted.unicodeScalars.append(character.properties.generalCategory == .control ? "\u{FFFD}" : character)
        }
        return quoted + "\u{201D}"
    }

    static func wrongType(_ field: String, wanted: String, found: JSONValue) -> Undecodable {
        Undecodable(.wrongType, "\(field) must be \(wanted); it is \(found.kind)")
    }
}
