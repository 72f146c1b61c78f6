/// A schema of the registry, as far as records need it.
public enum WriterSchema: Sendable {
    case avro(AvroSchema)
    /// A JSON Schema. The document explains itself, so nothing of the schema is needed.
    case json
    /// Records with the schema cannot be decoded.
    case unusable(Undecodable)
}

/// The part of a decoder that knows a newsroom's own formats, and the schemas of the registry.
final class OwnShapes {
    private let settings: EventFormats
    private let ask: ((UInt32) -> WriterSchema?)?
    /// Schemas never change, so they are kept for good.
    private var schemas: [UInt32: WriterSchema] = [:]
    /// The format of the record decoded last, and what it gave.
    private(set) var format: EventFormat?
    private(set) var values: [MappedValue] = []

    private let collectsValues: Bool

    init(_ settings: EventFormats, _ ask: ((UInt32) -> WriterSchema?)?, collectsValues: Bool) {
        self.settings = settings
        self.ask = ask
        self.collectsValues = collectsValues
    }

    func begin() {
        format = nil
        values = []
    }

    func learn(_ id: UInt32, _ schema: WriterSchema) { schemas[id] = schema }

    /// The interests that the document has at the pointers of the settings.
    func interests(in document: JSONObject) throws(Undecodable) -> [String] {
        try settings.interests.found(in: document)
    }

    // MARK: The registry's five bytes

    /// Confluent's wire format: a zero, and the schema's id in four bytes. No JSON document begins so.
    private static let frameCount = 5

    /// - Returns: the document as JSON, if it is not JSON in the record; otherwise the position at which it starts.
    func document(of value: UnsafeBufferPointer<UInt8>) throws(Undecodable) -> (json: [UInt8]?, start: Int) {
        guard settings.usesRegistry, value.first == 0 else { return (nil, 0) }
        guard value.count >= Self.frameCount else {
            throw Undecodable(.badAvro, "the record ends within the five bytes that name its schema")
        }
        let id = value[1..<Self.frameCount].reduce(0) { $0 << 8 | UInt32($1) }
        guard id <= UInt32(Int32.max) else {
            throw Undecodable(.unknownSchema, "a registry's schemas have no number like \(id)")
        }
        switch try schema(id) {
        case .json: return (nil, Self.frameCount)
        case .avro(let schema):
            guard value.count <= EventLimits.document else {
                throw Undecodable(
                    .tooLarge, "the record has \(value.count) bytes; at most \(EventLimits.document) are read")
            }
            let body = UnsafeBufferPointer(rebasing: value.dropFirst(Self.frameCount))
            return (try AvroReader.json(body, schema), 0)
        case .unusable(let undecodable):
            // The registry may learn the id later, so the next record asks again.
            if undecodable.reason == .unknownSchema { schemas[id] = nil }
            throw undecodable
        }
    }

    private func schema(_ id: UInt32) throws(Undecodable) -> WriterSchema {
        if let known = schemas[id] { return known }
        guard let schema = ask?(id) else {
            var awaited = Undecodable(.unknownSchema, "schema \(id) of the registry is not here yet")
            awaited.awaitedSchema = id
            throw awaited
        }
        learn(id, schema)
        return schema
    }

    // MARK: Formats

    /// - Returns: the first format of the document; `nil` for a built-in one.
    func format(
        of document: JSONObject, _ headers: [RecordHeader], topic: String?
    ) throws(Undecodable) -> EventFormat? {
        guard !headers.isBuiltInShape else { return nil }
        for format in settings.formats where try format.matches(document, headers, topic: topic) {
            self.format = format
            return format
        }
        return nil
    }

    /// - Parameter eventID: receives the event's id before another error can occur.
    /// - Returns: the document as a `news-event`.
    func translate(
        _ document: JSONObject, by format: EventFormat, _ eventID: inout String?
    ) throws(Undecodable) -> [UInt8] {
        var translation = Translation(document, by: format, collectsValues: collectsValues)
        let bytes = try translation.document(&eventID)
        values = translation.values
        return bytes
    }
}

extension EventFormat {
    /// Names the format in the decoder's error, and the pointers of the member that it is about.
    func explaining(_ error: Undecodable) -> Undecodable {
        let words = error.detail.split { !$0.isLetter }
        guard let member = words.lazy.compactMap({ EventMember(rawValue: String($0)) }).first else {
            return problem(error, at: "as an event")
        }
        let sources = members.first { $0.member == member }?.sources ?? []
        let places = sources.map { $0.name == nil ? $0.place : "\($0.name ?? "") from \($0.place)" }
        return problem(
            error,
            at: places.isEmpty
                ? "which maps no \(member.rawValue)" : "\(member.rawValue) from \(places.joined(separator: ", "))")
    }
}

extension Undecodable {
    /// Adds the probable cause to the error of a record that begins like those of a schema registry.
    mutating func mentionRegistry(_ record: SourceRecord) {
        guard reason == .invalidJSON, record.withValue({ $0.first == 0 && $0.count > 5 }) ?? false else { return }
        detail += "; it begins like a record of a schema registry, which schemaRegistry.url would name"
    }
}
