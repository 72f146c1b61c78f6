import ByteText
import HTTPCalls
import NIOPosix
public import NewsModel
import Synchronization

/// A schema registry with Confluent's interface. Schemas are kept for good, because an id never gets another schema.
public final class SchemaRegistry: Sendable {
    /// The address without a slash at the end.
    private let url: String
    private let headers: [(String, String)]
    private let known = Mutex<Known>(Known())

    private struct Known {
        var schemas: [UInt32: WriterSchema] = [:]
        /// The ids that the registry did not know, or of which it did not know a part, and when.
        var unknown: [UInt32: (schema: WriterSchema, at: ContinuousClock.Instant)] = [:]
    }

    /// The time for which an id that the registry does not know is not asked for again. Short, because a registry may learn an id a
    /// moment after the first record with it.
    private static let unknownLasts = Duration.seconds(5)
    private static let unknownMax = 1_000
    /// The most schemas that one refers to, directly or not.
    private static let referencesMax = 64
    /// The most bytes of an answer; a schema is escaped in it.
    private static let answerMax = 4 * AvroSchema.bytesMax

    /// - Parameters:
    ///   - url: the address, such as `https://registry:8081`.
    ///   - basicAuth: user and password, with a colon between them; `nil` without.
    public init(url: String, basicAuth: String? = nil) {
        self.url = url.hasSuffix("/") ? String(url.dropLast()) : url
        var headers = [("Accept", "application/vnd.schemaregistry.v1+json, application/json")]
        if let basicAuth { headers.append(("Authorization", "Basic " + Base64.encode(Array(basicAuth.utf8)))) }
        self.headers = headers
    }

    /// Gets a schema, however long that takes.
    ///
    /// - Parameter onFailure: receives the reason each time the registry does not answer.
    /// - Returns: `nil` if the task was cancelled.
    public func schema(_ id: UInt32, onFailure: @Sendable (String) -> Void) async -> WriterSchema? {
        var pause = Duration.milliseconds(250)
        while !Task.isCancelled {
            let result = try? await NIOThreadPool.singleton.runIfActive { [self] in
                Result { () throws(RegistryFailure) in try fetch(id) }
            }
            switch result {
            case .success(let schema): return schema
            case .failure(let failure): onFailure(failure.detail)
            case nil: return nil
            }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(10))
        }
        return nil
    }

    /// Gets a schema, for commands that read records one after another. Blocks.
    ///
    /// - Returns: without an answer, a schema with which records cannot be decoded for that reason.
    public func schemaNow(_ id: UInt32) -> WriterSchema {
        do throws(RegistryFailure) {
            return try fetch(id)
        } catch {
            return .unusable(Undecodable(.unknownSchema, error.detail))
        }
    }

    // MARK: Requests

    private func fetch(_ id: UInt32) throws(RegistryFailure) -> WriterSchema {
        let now = ContinuousClock.now
        let schema = known.withLock { known in
            known.schemas[id] ?? known.unknown[id].flatMap { now - $0.at < Self.unknownLasts ? $0.schema : nil }
        }
        if let schema { return schema }
        do throws(RegistryFailure) {
            return try load(id)
        } catch {
            guard error.isFinal else { throw error }
            let unusable = WriterSchema.unusable(Undecodable(.unusableSchema, "schema \(id): \(error.detail)"))
            known.withLock { $0.schemas[id] = unusable }
            return unusable
        }
    }

    private func load(_ id: UInt32) throws(RegistryFailure) -> WriterSchema {
        guard let answer = try get("/schemas/ids/\(id)") else {
            return unknown(id, "the schema registry has no schema \(id)")
        }
        let references = try references(of: answer)
        let fetched: WriterSchema
        do throws(Undecodable) {
            fetched = try compile(answer, try references.get())
        } catch {
            let detail = "schema \(id): \(error.detail)"
            if error.reason == .unknownSchema { return unknown(id, detail) }
            fetched = .unusable(Undecodable(error.reason, detail))
        }
        known.withLock { $0.schemas[id] = fetched }
        return fetched
    }

    private func unknown(_ id: UInt32, _ detail: String) -> WriterSchema {
        let schema = WriterSchema.unusable(Undecodable(.unknownSchema, detail))
        known.withLock { known in
            if known.unknown.count >= Self.unknownMax { known.unknown = [:] }
            known.unknown[id] = (schema, .now)
        }
        return schema
    }

    private func compile(_ answer: RegistryAnswer, _ references: [String]) throws(Undecodable) -> WriterSchema {
        switch answer.type {
        case "AVRO": return .avro(try AvroSchema(answer.schema, references: references))
        case "JSON": return .json
        default:
            throw Undecodable(
                .unusableSchema, "records in \(answer.type.prefix(40)) are not decoded; Avro and JSON are")
        }
    }

    /// The schemas that an Avro schema refers to, each after those that it refers to itself.
    ///
    /// - Returns: a failure if the registry does not have one of them.
    private func references(
        of answer: RegistryAnswer
    ) throws(RegistryFailure) -> Result<[String], Undecodable> {
        guard answer.type == "AVRO" else { return .success([]) }
        var texts: [String] = []
        var seen: Set<RegistryAnswer.Reference> = []
        func follow(_ answer: RegistryAnswer) throws(RegistryFailure) -> Undecodable? {
            for reference in answer.references where seen.insert(reference).inserted {
                let name = "\(reference.subject) version \(reference.version)"
                guard seen.count <= Self.referencesMax else {
                    return Undecodable(.unusableSchema, "it refers to more than \(Self.referencesMax) schemas")
                }
                let subject = reference.subject.percentEncoded
                // Old records may have a schema of a deleted subject. Another instance of the registry may learn it in a moment.
                guard let next = try get("/subjects/\(subject)/versions/\(reference.version)?deleted=true") else {
                    return Undecodable(.unknownSchema, "it refers to \(name), which the registry does not have")
                }
                if let problem = try follow(next) { return problem }
                texts.append(next.schema)
            }
            return nil
        }
        if let problem = try follow(answer) { return .failure(problem) }
        return .success(texts)
    }

    /// - Returns: `nil` if the registry says that there is no such schema.
    private func get(_ path: String) throws(RegistryFailure) -> RegistryAnswer? {
        let answer = try exchange(path)
        if answer.status == 404, RegistryAnswer.isUnknown(answer.body) { return nil }
        try Self.require(answer.status)
        return try RegistryAnswer(answer.body)
    }

    private static func require(_ status: Int) throws(RegistryFailure) {
        switch status {
        case 200: break
        case 401, 403: throw RegistryFailure("the schema registry refuses schemaRegistry.basicAuth: status \(status)")
        default: throw RegistryFailure("the schema registry answered with status \(status)")
        }
    }

    /// Asks the registry a question that changes nothing. Blocks.
    ///
    /// - Returns: the reason why it cannot be asked for schemas; `nil` if it can be.
    public func problem() -> String? {
        do throws(RegistryFailure) {
            try Self.require(exchange("/schemas/types").status)
            return nil
        } catch {
            return error.detail
        }
    }

    private func exchange(_ path: String) throws(RegistryFailure) -> HTTPCall.Answer {
        var call = HTTPCall(url: url + path)
        call.headers = headers
        do throws(HTTPCall.Failure) {
            return try call.answer(bytesMax: Self.answerMax)
        } catch {
            guard !error.isTooLarge else { throw RegistryFailure(error.detail, isFinal: true) }
            throw RegistryFailure("the schema registry does not answer: \(error.detail)")
        }
    }
}

/// The reason why a registry cannot be asked now.
struct RegistryFailure: Error {
    var detail: String
    /// The same question would fail again, because the schema itself cannot be used.
    var isFinal: Bool

    init(_ detail: String, isFinal: Bool = false) {
        self.detail = String(detail.prefix(300))
        self.isFinal = isFinal
    }
}

/// The registry's answer about one schema.
struct RegistryAnswer {
    var schema: String
    /// `AVRO`, `JSON` or `PROTOBUF`.
    var type: String
    var references: [Reference]

    struct Reference: Hashable {
        var subject: String
        var version: Int
    }

    init(_ body: [UInt8]) throws(RegistryFailure) {
        let parser = JSONParser(sizeMax: max(body.count, EventLimits.document))
        defer { withExtendedLifetime(parser) {} }
        do throws(Undecodable) {
            let fields = try JSONFields(body, parser)
            schema = try fields.required("schema", fields.string("schema"))
            type = try fields.string("schemaType") ?? "AVRO"
            references = try fields.objects("references").map { reference throws(Undecodable) in
                Reference(
                    subject: try reference.required("subject", reference.string("subject")),
                    version: try reference.required("version", reference.integer("version")))
            }
        } catch {
            throw RegistryFailure("the schema registry's answer is not understood: \(error.detail)")
        }
    }

    /// True if the body is the registry's own error for an absent schema, subject or version. Any other server answers 404 for
    /// a wrong address, which is no reason to give up the records.
    static func isUnknown(_ body: [UInt8]) -> Bool {
        let parser = JSONParser()
        defer { withExtendedLifetime(parser) {} }
        guard let fields = try? JSONFields(body, parser) else { return false }
        let code: Int? = (try? fields.integer("error_code")) ?? nil
        return code.map((40_401...40_403).contains) ?? false
    }
}
