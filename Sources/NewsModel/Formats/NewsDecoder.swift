import ByteText

/// Decodes records into events: our `news-event`, IPTC ninjs 1.x to 3.x, and either inside a CloudEvent (structured or
/// binary). `EventLimits` holds the limits; unknown members are ignored; null means absent. A newsroom's own formats, and
/// Avro, are read if the decoder has them.
///
/// Reuses its memory for every record, so one decoder belongs to one thread.
public final class NewsDecoder {
    private var reader: DocumentReader
    /// `nil` without formats of our own, which then cost nothing.
    private let shapes: OwnShapes?

    /// - Parameters:
    ///   - documentMax: the maximum bytes of one document; a longer one is `too-large`.
    ///   - formats: the formats to try before the built-in ones.
    ///   - schemas: answers at once with a schema that the decoder does not have; `nil` if it cannot be had now. Without it,
    ///     such records are not decoded before `learn` (`Undecodable.awaitedSchema`).
    ///   - collectsValues: fills `mappedValues`.
    public init(
        documentMax: Int = EventLimits.document, formats: EventFormats = EventFormats(),
        schemas: ((UInt32) -> WriterSchema?)? = nil, collectsValues: Bool = false
    ) {
        reader = DocumentReader(documentMax: documentMax)
        shapes = formats.isEmpty ? nil : OwnShapes(formats, schemas, collectsValues: collectsValues)
    }

    /// The name of the format that the record decoded last has; `nil` for the built-in ones.
    public var format: String? { shapes?.format?.name }

    /// The values of the record decoded last, if it has one of our own formats.
    package var mappedValues: [MappedValue] { shapes?.values ?? [] }

    /// Receives a schema that a record awaits.
    public func learn(_ id: UInt32, _ schema: WriterSchema) { shapes?.learn(id, schema) }

    /// Decodes the event of a record; no input makes it trap.
    ///
    /// - Parameter topic: the record's topic, which may decide its format.
    public func decode(
        _ record: SourceRecord, topic: @autoclosure () -> String? = nil
    ) throws(Undecodable) -> NewsEvent {
        var envelope = Envelope(record.headers)
        do throws(Undecodable) {
            let event =
                if let shapes {
                    try record.withValue { value throws(Undecodable) in
                        try reader.event(in: value, record.headers, topic: topic(), shapes, &envelope)
                    }
                } else {
                    try record.withValue { value throws(Undecodable) in try reader.event(in: value, &envelope) }
                }
            guard let event else {
                throw Undecodable(.tombstone, "the record has no value (a tombstone), so there is no event in it")
            }
            return event
        } catch {
            var undecodable = error
            undecodable.eventID = envelope.eventID
            if shapes == nil { undecodable.mentionRegistry(record) }
            throw undecodable
        }
    }
}

/// The memory of a decoder; reads the event in a document's bytes.
private struct DocumentReader {
    private let parser: JSONParser
    private var members: Members
    /// The memory for objects inside a ninjs document.
    private var inner: Members

    init(documentMax: Int) {
        let table = FieldTable()
        parser = JSONParser(sizeMax: documentMax)
        members = Members(table: table)
        inner = Members(table: table)
    }

    mutating func event(
        in value: UnsafeBufferPointer<UInt8>, _ envelope: inout Envelope
    ) throws(Undecodable) -> NewsEvent {
        guard !value.isEmpty else { throw Undecodable(.empty, "the record's value is empty") }
        members.read(try parser.object(in: value))
        return try event(&envelope)
    }

    /// Reads the document in `members`, and the interests that it has elsewhere.
    private mutating func event(
        _ root: JSONObject, _ envelope: inout Envelope, _ shapes: OwnShapes
    ) throws(Undecodable) -> NewsEvent {
        var root = root
        if envelope.isStructured || looksLikeCloudEvent { root = try open(&envelope) }
        var event = isNinjs() ? try members.ninjs(&envelope, &inner) : try members.newsEvent(&envelope)
        try event.add(Result { () throws(Undecodable) in try shapes.interests(in: root) })
        return event
    }

    /// Reads the document in `members`.
    @inline(__always)
    private mutating func event(_ envelope: inout Envelope) throws(Undecodable) -> NewsEvent {
        if envelope.isStructured || looksLikeCloudEvent { _ = try open(&envelope) }
        return isNinjs() ? try members.ninjs(&envelope, &inner) : try members.newsEvent(&envelope)
    }

    /// Reads a document of one of our own formats, or a built-in one beside them.
    mutating func event(
        in value: UnsafeBufferPointer<UInt8>, _ headers: [RecordHeader], topic: String?, _ shapes: OwnShapes,
        _ envelope: inout Envelope
    ) throws(Undecodable) -> NewsEvent {
        shapes.begin()
        guard !value.isEmpty else { throw Undecodable(.empty, "the record's value is empty") }
        let document = try shapes.document(of: value)
        let root: JSONObject
        if let json = document.json {
            root = try object(in: json)
        } else {
            root = try parser.object(in: UnsafeBufferPointer(rebasing: value.dropFirst(document.start)))
        }
        guard let format = try shapes.format(of: root, headers, topic: topic) else {
            members.read(root)
            return try event(root, &envelope, shapes)
        }
        // The next document that the parser reads takes the place of this one.
        let interests = Result { () throws(Undecodable) in try shapes.interests(in: root) }
        _ = try read(try shapes.translate(root, by: format, &envelope.eventID))
        do throws(Undecodable) {
            var event = try members.newsEvent(&envelope)
            try event.add(interests)
            return event
        } catch {
            throw format.explaining(error)
        }
    }

    private mutating func read(_ bytes: [UInt8]) throws(Undecodable) -> JSONObject {
        let object = try object(in: bytes)
        members.read(object)
        return object
    }

    private func object(in bytes: [UInt8]) throws(Undecodable) -> JSONObject {
        try bytes.withUnsafeBufferPointer { bytes throws(Undecodable) in try parser.object(in: bytes) }
    }

    /// Reads the envelope's attributes, then the document inside it.
    ///
    /// - Returns: the document.
    private mutating func open(_ envelope: inout Envelope) throws(Undecodable) -> JSONObject {
        envelope.eventID = (try? members.identifier(.id, limit: EventLimits.id)) ?? envelope.eventID
        try members.requireUniqueNames()
        try members.requireNoNarrowing()
        try envelope.require(version: try members.identifier(.specversion, limit: 16))
        envelope.id = try members.identifier(.id, limit: EventLimits.id)
        envelope.time = try members.instant(.time)
        switch (members.member(.data)?.value, members.member(.dataBase64)?.value) {
        case (.object(let document)?, nil):
            members.read(document)
            return document
        case (.string(let text)?, nil): return try read(Array(text))
        case (nil, .string(let text)?):
            guard let bytes = Base64.decode(text) else {
                throw Undecodable(.badCloudEvent, "data_base64 of the CloudEvent is not base64")
            }
            return try read(bytes)
        case (nil, nil): throw Undecodable(.badCloudEvent, "the CloudEvent has no data")
        case (.some, .some): throw Undecodable(.badCloudEvent, "the CloudEvent has both data and data_base64")
        case (.some(let data), nil): throw .wrongType("data", wanted: "an object", found: data)
        case (nil, .some(let data)): throw .wrongType("data_base64", wanted: "a string", found: data)
        }
    }

    private var looksLikeCloudEvent: Bool {
        members.has(.specversion) && members.has(.type) && members.has(.source) && members.has(.id)
    }

    /// Decides the format by `standard` if present, else by the members that only one format has.
    private mutating func isNinjs() -> Bool {
        if case .object(let standard)? = members.member(.standard)?.value {
            inner.read(standard)
            if case .string(let name)? = inner.member(.name)?.value, name == "ninjs" { return true }
        }
        if members.has(.id) { return false }
        if members.has(.uri) || members.has(.guid) || members.has(.versionCreated) || members.has(.pubStatus) {
            return true
        }
        // In our format `headlines` is an object of language and text.
        if case .array? = members.member(.headlines)?.value { return true }
        return false
    }
}

/// The attributes of a CloudEvent around a document: in headers (binary) or in the value (structured).
struct Envelope: ~Copyable {
    /// True when a header declares the value a structured CloudEvent.
    private(set) var isStructured = false
    /// Replaces a missing id of the document.
    var id: String?
    /// Replaces a missing time of the document.
    var time: Instant?
    /// The environment on the record's stamp; empty if all stamps are. Stamps that differ or cannot be read match no
    /// environment.
    private(set) var environment: String?
    /// A header with the name of a narrowing field, which has no effect in a header; fields that limit recalls take precedence.
    private(set) var misplaced: (name: String, meant: NarrowingField)?
    /// The best known id of the event, for reports of failures.
    var eventID: String?

    private var binaryTime: RecordHeader?

    init(_ headers: [RecordHeader]) {
        // Most records carry no headers.
        guard !headers.isEmpty else { return }
        for header in headers {
            if header.name.utf8.count == HeaderName.environment.utf8.count,
                header.name.lowercased() == HeaderName.environment
            {
                add(stamp: header)
            } else {
                examine(header.name)
            }
        }
        for header in headers where header.name.utf8.count == HeaderName.contentType.utf8.count {
            guard header.name.lowercased() == HeaderName.contentType, let type = header.text?.lowercased() else {
                continue
            }
            isStructured = type.hasPrefix("application/cloudevents")
        }
        guard !isStructured, headers.contains(where: { $0.name == HeaderName.cloudEventVersion }) else { return }
        if let text = headers.last(where: { $0.name == HeaderName.cloudEventID })?.text,
            !text.isEmpty, text.utf8.count <= EventLimits.id, text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
        {
            id = text
            eventID = text
        }
        binaryTime = headers.last { $0.name == HeaderName.cloudEventTime }
    }

    private mutating func add(stamp header: RecordHeader) {
        let text = header.text.map { String($0.prefix(EventLimits.environment)) } ?? "?"
        let stamp = text.allSatisfy(\.isWhitespace) ? "" : text
        guard let known = environment, !known.isEmpty else {
            environment = stamp
            return
        }
        // Stamps that differ withhold the event, however many there are.
        guard known.utf8.count <= 4 * EventLimits.environment, !stamp.isEmpty, stamp.lowercased() != known.lowercased()
        else { return }
        environment = "\(known), \(stamp)"
    }

    private mutating func examine(_ header: String) {
        var name = header
        guard let meant = name.withUTF8({ NarrowingField.meant(byHeader: $0) }), misplaced == nil || meant.limitsRecalls
        else { return }
        misplaced = (header, meant)
    }

    /// The envelope's time, used only if the document has no time.
    func publishedAt() throws(Undecodable) -> Instant? {
        guard let binaryTime else { return time }
        if let instant = binaryTime.text.flatMap({ Instant(rfc3339: $0) }) { return instant }
        throw Undecodable(.badDate, "the header \(HeaderName.cloudEventTime) must be an RFC 3339 date and time")
    }

    func require(version: String?) throws(Undecodable) {
        guard let version else { throw Undecodable(.badCloudEvent, "the CloudEvent has no specversion") }
        guard version == "1.0" || version == "0.3" else {
            throw Undecodable(.badCloudEvent, "the CloudEvent has specversion \(version); 1.0 and 0.3 are known")
        }
    }
}

/// Makes decoders for the formats of the settings. A decoder belongs to one thread; this may be shared.
public struct DecoderFactory: Sendable {
    private let formats: EventFormats
    private let schemas: (@Sendable (UInt32) -> WriterSchema?)?

    /// - Parameter schemas: see `NewsDecoder`.
    public init(_ formats: EventFormats = EventFormats(), schemas: (@Sendable (UInt32) -> WriterSchema?)? = nil) {
        self.formats = formats
        self.schemas = schemas
    }

    public var hasFormats: Bool { !formats.areBuiltIn }

    public func make(collectsValues: Bool = false) -> NewsDecoder {
        NewsDecoder(formats: formats, schemas: schemas, collectsValues: collectsValues)
    }
}
