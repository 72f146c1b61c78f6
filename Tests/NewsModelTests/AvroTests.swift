import ByteText
import Foundation
import NewsModel
import TestSupport
import Testing

/// The JSON of an Avro record, whose bytes are given as numbers.
private func json(_ schema: String, _ bytes: [UInt8], outputMax: Int = EventLimits.document) throws -> String {
    let compiled = try AvroSchema(schema)
    let json = try bytes.withUnsafeBufferPointer { bytes throws(Undecodable) in
        try AvroReader.json(bytes, compiled, outputMax: outputMax)
    }
    return String(decoding: json, as: UTF8.self)
}

private func refusal(
    of schema: String, _ bytes: [UInt8], outputMax: Int = EventLimits.document
) throws -> Undecodable.Reason {
    try #require(throws: Undecodable.self) { try json(schema, bytes, outputMax: outputMax) }.reason
}

/// Records that fastavro has written, with their schema.
private struct Written: Decodable {
    var schema: String
    var record: String
    var json: String

    func isEqual(to other: String) throws -> Bool {
        let (theirs, ours) = try (Self.object(json), Self.object(other))
        return theirs.isEqual(ours)
    }

    private static func object(_ json: String) throws -> NSObject {
        try #require(JSONSerialization.jsonObject(with: Data(json.utf8), options: .fragmentsAllowed) as? NSObject)
    }
}

@Test(.enabled(if: Python(with: "fastavro") != nil, "needs fastavro"))
func `a thousand random records of fastavro are read as it wrote them, and damaged ones are refused or bounded`()
    async throws
{
    let python = try #require(Python(with: "fastavro"))
    let seed = UInt64.random(in: 0..<1 << 32)
    let (status, output) = try await python.run(
        script: "avro_oracle.py", arguments: ["1000", "\(seed)"], beside: #filePath)
    #expect(status == 0)
    let lines = output.split(separator: "\n")
    #expect(lines.count == 1_000)
    var random = SeededRandom(seed: seed)
    var refused = 0
    for line in lines {
        let written = try JSONDecoder().decode(Written.self, from: Data(line.utf8))
        let bytes = try #require(Base64.decode(written.record))
        let ours = try json(written.schema, bytes)
        #expect(try written.isEqual(to: ours), "seed \(seed): \(written.schema)\n\(ours)\n\(written.json)")
        guard !bytes.isEmpty else { continue }
        for _ in 0..<20 {
            var damaged = bytes
            damaged[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            if random.next() % 4 == 0 { damaged.removeLast(Int(random.next() % UInt64(bytes.count))) }
            do {
                let read = try json(written.schema, damaged, outputMax: 1 << 16)
                #expect(read.utf8.count < 1 << 18)
            } catch is Undecodable {
                refused += 1
            }
        }
    }
    #expect(refused > 1_000, "seed \(seed)")
}

@Test(
    arguments: [
        (#""string""#, [6, 0x22, 0x0A, 0x41], #""\"\nA""#),
        (#""bytes""#, [4, 0x00, 0xFF], "\"\\u0000\u{FF}\""),
        (#""float""#, [0, 0, 0xC0, 0x7F], "null"),
        (#""double""#, [0, 0, 0, 0, 0, 0, 0xF0, 0x7F], "null"),
        // A block with a negative count is followed by its size.
        (#"{"type": "array", "items": "int"}"#, [3, 4, 2, 4, 0], "[1,2]"),
        (#"{"type": "array", "items": "int"}"#, [2, 2, 2, 4, 0], "[1,2]"),
        (#"{"type": "map", "values": "boolean"}"#, [2, 2, 0x61, 1, 0], #"{"a":true}"#),
        (#"{"type": {"type": "int"}}"#, [1], "-1"),
        (
            #"{"type": "fixed", "name": "D", "size": 12, "logicalType": "duration"}"#,
            [1, 0, 0, 0, 2, 0, 0, 0, 0xE8, 3, 0, 0], #""P1M2DT1.000S""#
        ),
        (
            #"{"type": "fixed", "name": "U", "size": 16, "logicalType": "uuid"}"#, Array(0..<16),
            #""00010203-0405-0607-0809-0a0b0c0d0e0f""#
        ),
        // Beyond the year 9999.
        (
            #"{"type": "long", "logicalType": "timestamp-millis"}"#,
            [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], #""9999-12-31T23:59:59.807Z""#
        ),
        // A scale beyond the precision is no logical type.
        (#"{"type": "bytes", "logicalType": "decimal", "precision": 2, "scale": 3}"#, [2, 0x41], #""A""#),
    ] as [(String, [UInt8], String)])
func `a value has its JSON`(schema: String, bytes: [UInt8], wanted: String) throws {
    #expect(try json(schema, bytes) == wanted)
}

@Test(
    arguments: [
        (#""long""#, [UInt8](repeating: 0x80, count: 20), .badAvro),
        (#""long""#, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], .badAvro),
        (#""long""#, [0x80], .badAvro), (#""long""#, [], .badAvro), (#""null""#, [0], .badAvro),
        (#""int""#, [0xFE, 0xFF, 0xFF, 0xFF, 0x1F], .badAvro), (#""boolean""#, [2], .badAvro),
        (#""string""#, [3], .badAvro), (#""string""#, [20, 0x41], .badAvro),
        (#""string""#, [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], .badAvro),
        (#""string""#, [2, 0xFF], .invalidUTF8),
        (#"["null", "int"]"#, [4], .badAvro), (#"["null", "int"]"#, [1], .badAvro), ("[]", [0], .badAvro),
        (#"{"type": "enum", "name": "E", "symbols": ["A"]}"#, [2], .badAvro),
        (#"{"type": "fixed", "name": "F", "size": 4}"#, [1, 2, 3], .badAvro),
        (#"{"type": "int", "logicalType": "time-millis"}"#, [1], .badAvro),
        (#"{"type": "array", "items": "int"}"#, [1, 0], .badAvro),
        // The shortest count that is its own negative.
        (
            #"{"type": "array", "items": "null"}"#, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
            .badAvro
        ),
        // Values without bytes, as many as 64 bits can count.
        (
            #"{"type": "array", "items": "null"}"#, [0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
            .tooLarge
        ),
        // A record that contains itself, without an end.
        (#"{"type": "record", "name": "R", "fields": [{"name": "r", "type": "R"}]}"#, [], .tooDeep),
    ] as [(String, [UInt8], Undecodable.Reason)])
func `hostile bytes are refused`(schema: String, bytes: [UInt8], reason: Undecodable.Reason) throws {
    #expect(try refusal(of: schema, bytes) == reason)
}

@Test
func `schemas of little text whose record has no bytes, and endless JSON, are bounded`() throws {
    var schemas = [#"{"type": "record", "name": "R0", "fields": []}"#]
    for level in 1..<50 {
        let inner = #""type": "R\#(level - 1)""#
        schemas.append(
            #"{"type": "record", "name": "R\#(level)", "fields": [{"name": "a", \#(inner)}, {"name": "b", \#(inner)}]}"#
        )
    }
    let schema = try AvroSchema(try #require(schemas.last), references: schemas.dropLast())
    let error = try #require(throws: Undecodable.self) {
        try [UInt8]().withUnsafeBufferPointer { bytes throws(Undecodable) in try AvroReader.json(bytes, schema) }
    }
    #expect(error.reason == .tooLarge)
}

@Test(
    arguments: [
        "", "{", "3", #""Unknown""#, "{}", #"{"type": "record", "name": "R"}"#, #"{"type": "array"}"#,
        #"{"type": "record", "fields": []}"#, #"{"type": "fixed", "name": "F", "size": -1}"#,
        #"{"type": "fixed", "name": "F", "size": 9999999999}"#, #"{"type": "enum", "name": "E"}"#,
        #"{"type": "record", "name": "R", "fields": [{"name": "a"}]}"#,
        #"[{"type": "fixed", "name": "F", "size": 1}, {"type": "fixed", "name": "F", "size": 1}]"#,
        String(repeating: "[", count: 10_000), "\"" + String(repeating: "x", count: AvroSchema.bytesMax) + "\"",
    ])
func `an unusable schema is refused with a reason`(schema: String) throws {
    let error = try #require(throws: Undecodable.self) { try AvroSchema(schema) }
    #expect(error.reason == .unusableSchema)
    #expect(error.detail.hasPrefix("the Avro schema "))
    #expect(error.detail.utf8.count < 300)
}

@Test
func `a schema may name types of the schemas that it refers to`() throws {
    let author =
        #"{"type": "record", "name": "Author", "namespace": "news", "fields": [{"name": "n", "type": "string"}]}"#
    let schema = try AvroSchema(
        #"{"type": "record", "name": "A", "namespace": "news", "fields": [{"name": "by", "type": "Author"}]}"#,
        references: [author])
    let json = try [UInt8]([2, 0x78]).withUnsafeBufferPointer { bytes throws(Undecodable) in
        try AvroReader.json(bytes, schema)
    }
    #expect(String(decoding: json, as: UTF8.self) == #"{"by":{"n":"x"}}"#)
}
