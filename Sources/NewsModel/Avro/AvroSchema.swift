import ByteText

/// The schema that wrote an Avro record, compiled for reading.
///
/// Our own decoder, because Debian's `libavro-dev` (1.11.1, Avro for C) knows no logical types: dates, decimals and uuids
/// would stay numbers and bytes. It also reads a record into values of its own first, of a depth and size that the bytes
/// determine. This decoder writes JSON at once, from which all formats are read, and stops at fixed bounds.
public final class AvroSchema: Sendable {
    let nodes: [Node]
    let root: Int

    /// One type of the schema. Other types are named by their position, so that a type may contain itself.
    enum Node: Sendable, Hashable {
        case null, boolean, float, double, string
        case int(Meaning), long(Meaning), bytes(Meaning)
        case fixed(Int, Meaning)
        case symbols([String])
        case array(Int)
        case map(Int)
        case union([Int])
        case record([Field])
    }

    struct Field: Sendable, Hashable {
        var name: String
        var type: Int
    }

    /// The logical type. One that does not fit its type has no meaning, as the specification demands.
    enum Meaning: Sendable, Hashable {
        case plain, date, uuid, duration
        case time(perSecond: Int64)
        case timestamp(perSecond: Int64, isLocal: Bool)
        case decimal(scale: Int)
    }

    /// The most bytes of a schema with the schemas that it refers to.
    public static let bytesMax = 1 << 20
    /// The most digits of a decimal.
    static let digitsMax = 120

    /// Compiles a schema.
    ///
    /// - Parameter references: schemas of types that the schema names, each after those that it names itself.
    /// - Throws: the problem of the schema, as `unusable-schema`.
    public init(_ text: String, references: [String] = []) throws(Undecodable) {
        var compiler = AvroCompiler()
        for reference in references { _ = try compiler.compile(reference) }
        root = try compiler.compile(text)
        nodes = compiler.nodes
    }
}

private struct AvroCompiler {
    private(set) var nodes: [AvroSchema.Node] = []
    /// The positions of named types by their full names.
    private var named: [String: Int] = [:]

    mutating func compile(_ text: String) throws(Undecodable) -> Int {
        guard text.utf8.count <= AvroSchema.bytesMax else { throw Self.unusable("is larger than 1 MiB") }
        let parser = JSONParser(sizeMax: AvroSchema.bytesMax + 16)
        defer { withExtendedLifetime(parser) {} }
        // A schema may be a single name or a union, and the parser reads objects only.
        let bytes = Array("{\"\":\(text)}".utf8)
        let object: JSONObject
        do {
            object = try bytes.withUnsafeBufferPointer { bytes throws(Undecodable) in try parser.object(in: bytes) }
        } catch {
            throw Self.unusable("is not read: \(error.detail)")
        }
        guard let schema = object.first(where: { _ in true })?.value else { throw Self.unusable("is empty") }
        return try type(schema, in: "")
    }

    private static func unusable(_ problem: String) -> Undecodable {
        Undecodable(.unusableSchema, "the Avro schema \(problem)")
    }

    private mutating func add(_ node: AvroSchema.Node) -> Int {
        nodes.append(node)
        return nodes.count - 1
    }

    /// - Parameter namespace: the namespace of names without one.
    private mutating func type(_ schema: JSONValue, in namespace: String) throws(Undecodable) -> Int {
        switch schema {
        case .string(let name): return try type(named: String(decoding: name, as: UTF8.self), in: namespace)
        case .array(let branches):
            var positions: [Int] = []
            for branch in branches { positions.append(try type(branch, in: namespace)) }
            return add(.union(positions))
        case .object(let object): return try type(Attributes(object), in: namespace)
        default: throw Self.unusable("has \(schema.kind) in place of a type")
        }
    }

    private mutating func type(
        named name: String, in namespace: String, meaning: AvroSchema.Meaning = .plain
    ) throws(Undecodable) -> Int {
        switch name {
        case "null": return add(.null)
        case "boolean": return add(.boolean)
        case "float": return add(.float)
        case "double": return add(.double)
        case "string": return add(.string)
        case "int": return add(.int(meaning.fits(.int) ? meaning : .plain))
        case "long": return add(.long(meaning.fits(.long) ? meaning : .plain))
        case "bytes": return add(.bytes(meaning.fits(.bytes) ? meaning : .plain))
        default:
            // A name without a namespace may also be one of the empty namespace.
            if let known = named[Self.fullName(name, in: namespace)] ?? named[name] { return known }
            throw Self.unusable("names the type \(name.prefix(100)), which it does not define before")
        }
    }

    private mutating func type(_ schema: Attributes, in namespace: String) throws(Undecodable) -> Int {
        guard let type = schema["type"] else { throw Self.unusable("has an object without a type") }
        guard case .string(let bytes) = type else { return try self.type(type, in: namespace) }
        let name = String(decoding: bytes, as: UTF8.self)
        let meaning = AvroSchema.Meaning(schema)
        switch name {
        case "array", "map":
            guard let items = schema[name == "array" ? "items" : "values"] else {
                throw Self.unusable("has an \(name) without a type of its members")
            }
            let position = try self.type(items, in: namespace)
            return add(name == "array" ? .array(position) : .map(position))
        case "record", "error": return try record(schema, in: namespace)
        case "enum":
            guard case .array(let symbols)? = schema["symbols"] else {
                throw Self.unusable("has an enum without symbols")
            }
            return try define(schema, as: .symbols(symbols.compactMap(\.scalarText)), in: namespace).position
        case "fixed":
            guard case .integer(let size)? = schema["size"], (0...Int64(EventLimits.document)).contains(size) else {
                throw Self.unusable("has a fixed without a size, or with one of more than 1 MiB")
            }
            let node = AvroSchema.Node.fixed(Int(size), meaning.fits(.fixed(Int(size))) ? meaning : .plain)
            return try define(schema, as: node, in: namespace).position
        default: return try self.type(named: name, in: namespace, meaning: meaning)
        }
    }

    private mutating func record(_ schema: Attributes, in namespace: String) throws(Undecodable) -> Int {
        guard case .array(let fields)? = schema["fields"] else { throw Self.unusable("has a record without fields") }
        // The record is known before its fields, which may contain it.
        let (position, inner) = try define(schema, as: .record([]), in: namespace)
        var members: [AvroSchema.Field] = []
        for field in fields {
            guard case .object(let object) = field, let name = Attributes(object).text("name"),
                let type = Attributes(object)["type"]
            else { throw Self.unusable("has a field without a name or a type") }
            members.append(AvroSchema.Field(name: name, type: try self.type(type, in: inner)))
        }
        nodes[position] = .record(members)
        return position
    }

    /// Adds a type with a name.
    ///
    /// - Returns: its position, and the namespace of the names in it.
    private mutating func define(
        _ schema: Attributes, as node: AvroSchema.Node, in namespace: String
    ) throws(Undecodable) -> (position: Int, namespace: String) {
        guard let name = schema.text("name") else { throw Self.unusable("has a record, enum or fixed without a name") }
        let full = Self.fullName(name, in: schema.text("namespace") ?? namespace)
        guard named[full] == nil else { throw Self.unusable("defines \(full.prefix(100)) twice") }
        let position = add(node)
        named[full] = position
        return (position, full.lastIndex(of: ".").map { String(full[..<$0]) } ?? "")
    }

    private static func fullName(_ name: String, in namespace: String) -> String {
        namespace.isEmpty || name.contains(".") ? name : "\(namespace).\(name)"
    }
}

/// The attributes of a schema's object.
private struct Attributes {
    private let object: JSONObject

    init(_ object: JSONObject) { self.object = object }

    subscript(name: StaticString) -> JSONValue? { object.first { $0.name == name }?.value }

    func text(_ name: StaticString) -> String? {
        guard case .string(let text)? = self[name] else { return nil }
        return String(decoding: text, as: UTF8.self)
    }

    func size(_ name: StaticString) -> Int? {
        guard case .integer(let number)? = self[name] else { return nil }
        return Int(number)
    }
}

extension AvroSchema.Meaning {
    fileprivate enum Carrier { case int, long, bytes, fixed(Int) }

    fileprivate init(_ schema: Attributes) {
        switch schema.text("logicalType") {
        case "date": self = .date
        case "uuid": self = .uuid
        case "duration": self = .duration
        case "time-millis": self = .time(perSecond: 1_000)
        case "time-micros": self = .time(perSecond: 1_000_000)
        case "timestamp-millis": self = .timestamp(perSecond: 1_000, isLocal: false)
        case "timestamp-micros": self = .timestamp(perSecond: 1_000_000, isLocal: false)
        case "timestamp-nanos": self = .timestamp(perSecond: 1_000_000_000, isLocal: false)
        case "local-timestamp-millis": self = .timestamp(perSecond: 1_000, isLocal: true)
        case "local-timestamp-micros": self = .timestamp(perSecond: 1_000_000, isLocal: true)
        case "local-timestamp-nanos": self = .timestamp(perSecond: 1_000_000_000, isLocal: true)
        case "decimal":
            let (precision, scale) = (schema.size("precision") ?? 0, schema.size("scale") ?? 0)
            let isValid = (1...AvroSchema.digitsMax).contains(precision) && (0...precision).contains(scale)
            self = isValid ? .decimal(scale: scale) : .plain
        default: self = .plain
        }
    }

    fileprivate func fits(_ carrier: Carrier) -> Bool {
        switch (self, carrier) {
        case (.date, .int), (.time(perSecond: 1_000), .int), (.time(perSecond: 1_000_000), .long): true
        case (.timestamp, .long), (.decimal, .bytes), (.decimal, .fixed): true
        case (.uuid, .fixed(16)), (.duration, .fixed(12)): true
        default: false
        }
    }
}
