import ByteText

/// Reads one Avro value by the schema that wrote it, and writes it as JSON: the values that a JSON document would have.
///
/// - A union becomes the value of its branch, without the branch's name.
/// - Dates and times become texts: `2026-11-21`, `07:30:00.000`, and RFC 3339 for timestamps. A local timestamp has no offset.
/// - A decimal becomes a text with all its digits, because JSON numbers do not keep them.
/// - Bytes become a text with one character per byte, U+0000 to U+00FF, as in Avro's own JSON encoding.
/// - A uuid in a fixed becomes its text, and a duration the text of ISO 8601. Infinite numbers and NaN become null.
///
/// Depth and output are bounded, also for schemas that contain themselves and for arrays of values without bytes.
package struct AvroReader {
    private let schema: AvroSchema
    private let bytes: UnsafeBufferPointer<UInt8>
    private let outputMax: Int
    private var position = 0
    private var output: [UInt8] = []

    /// - Throws: `bad-avro` if the bytes are not one value of the schema.
    package static func json(
        _ bytes: UnsafeBufferPointer<UInt8>, _ schema: AvroSchema, outputMax: Int = EventLimits.document
    ) throws(Undecodable) -> [UInt8] {
        var reader = AvroReader(schema: schema, bytes: bytes, outputMax: outputMax)
        try reader.value(schema.root, depth: 0)
        guard reader.position == bytes.count else {
            throw reader.bad("\(bytes.count - reader.position) bytes follow the value")
        }
        return reader.output
    }

    private init(schema: AvroSchema, bytes: UnsafeBufferPointer<UInt8>, outputMax: Int) {
        self.schema = schema
        self.bytes = bytes
        self.outputMax = outputMax
    }

    private func bad(_ problem: String) -> Undecodable {
        Undecodable(.badAvro, "the Avro record is not what its schema says: \(problem), at byte \(position)")
    }

    private mutating func value(_ type: Int, depth: Int) throws(Undecodable) {
        guard depth < EventLimits.depth else {
            throw Undecodable(.tooDeep, "the Avro record has more than \(EventLimits.depth) levels")
        }
        guard output.count <= outputMax else {
            throw Undecodable(.tooLarge, "the Avro record has more than \(outputMax) bytes as JSON")
        }
        switch schema.nodes[type] {
        case .null: write("null")
        case .boolean:
            switch try take(1).first {
            case 0: write("false")
            case 1: write("true")
            default: throw bad("a boolean is neither 0 nor 1")
            }
        case .int(let meaning):
            guard let number = Int32(exactly: try long()) else { throw bad("an int does not fit 32 bits") }
            try write(Int64(number), meaning)
        case .long(let meaning): try write(long(), meaning)
        case .float: write(Float(bitPattern: UInt32(try littleEndian(4))))
        case .double: write(Double(bitPattern: try littleEndian(8)))
        case .string: quote(try text())
        case .bytes(let meaning): try write(take(try count()), meaning)
        case .fixed(let size, let meaning): try write(take(size), meaning)
        case .symbols(let symbols):
            let index = try long()
            guard index >= 0, index < symbols.count else { throw bad("an enum has no symbol \(index)") }
            quote(symbols[Int(index)])
        case .union(let branches):
            let index = try long()
            guard index >= 0, index < branches.count else { throw bad("a union has no branch \(index)") }
            try value(branches[Int(index)], depth: depth + 1)
        case .array(let element):
            output.append(UInt8(ascii: "["))
            try blocks { reader throws(Undecodable) in try reader.value(element, depth: depth + 1) }
            output.append(UInt8(ascii: "]"))
        case .map(let element):
            output.append(UInt8(ascii: "{"))
            try blocks { reader throws(Undecodable) in
                reader.quote(try reader.text())
                reader.output.append(UInt8(ascii: ":"))
                try reader.value(element, depth: depth + 1)
            }
            output.append(UInt8(ascii: "}"))
        case .record(let fields):
            output.append(UInt8(ascii: "{"))
            for (index, field) in fields.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                quote(field.name)
                output.append(UInt8(ascii: ":"))
                try value(field.type, depth: depth + 1)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// Reads the blocks of an array or a map. A negative count is followed by the size of its block.
    private mutating func blocks(
        _ element: (inout AvroReader) throws(Undecodable) -> Void
    ) throws(Undecodable) {
        var isFirst = true
        while true {
            var left = try long()
            if left == 0 { return }
            if left < 0 {
                guard left > .min else { throw bad("a block is too long") }
                left = -left
                _ = try long()
            }
            while left > 0 {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                try element(&self)
                left -= 1
            }
        }
    }

    // MARK: Bytes

    private mutating func take(_ count: Int) throws(Undecodable) -> UnsafeBufferPointer<UInt8> {
        guard count <= bytes.count - position else { throw bad("the bytes end in the middle of a value") }
        defer { position += count }
        return UnsafeBufferPointer(rebasing: bytes[position..<(position + count)])
    }

    /// Reads a number of bytes.
    private mutating func count() throws(Undecodable) -> Int {
        let count = try long()
        guard count >= 0, count <= bytes.count - position else { throw bad("a length of \(count) does not fit") }
        return Int(count)
    }

    /// Reads a number in zigzag coding of at most ten bytes.
    private mutating func long() throws(Undecodable) -> Int64 {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard let byte = try take(1).first else { break }
            // Only the lowest bit of the tenth byte fits.
            if shift == 63, byte > 1 { break }
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1) }
        }
        throw bad("a number has more than 64 bits")
    }

    private mutating func littleEndian(_ count: Int) throws(Undecodable) -> UInt64 {
        try take(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func text() throws(Undecodable) -> String {
        let start = position
        guard let text = String(validating: try take(try count()), as: UTF8.self) else {
            throw Undecodable(.invalidUTF8, "a string of the Avro record is not UTF-8, at byte \(start)")
        }
        return text
    }

    // MARK: JSON

    private mutating func write(_ text: String) { output.append(contentsOf: text.utf8) }

    private mutating func quote(_ text: String) { JSONEscaping.append(text, to: &output) }

    private mutating func write(_ number: some BinaryFloatingPoint & CustomStringConvertible) {
        write(number.isFinite ? number.description : "null")
    }

    private mutating func write(_ number: Int64, _ meaning: AvroSchema.Meaning) throws(Undecodable) {
        switch meaning {
        case .date: quote(AvroTexts.date(days: number))
        case .time(let perSecond):
            guard let text = AvroTexts.time(number, perSecond) else { throw bad("\(number) is no time of a day") }
            quote(text)
        case .timestamp(let perSecond, let isLocal): quote(AvroTexts.timestamp(number, perSecond, isLocal: isLocal))
        case .plain, .uuid, .duration, .decimal: write(String(number))
        }
    }

    private mutating func write(_ bytes: UnsafeBufferPointer<UInt8>, _ meaning: AvroSchema.Meaning) throws(Undecodable)
    {
        switch meaning {
        case .decimal(let scale):
            guard let text = AvroTexts.decimal(bytes, scale: scale) else { throw bad("a decimal has too many digits") }
            quote(text)
        case .uuid: quote(AvroTexts.uuid(bytes))
        case .duration: quote(AvroTexts.duration(bytes))
        case .plain, .date, .time, .timestamp:
            // Escapes take at most six bytes of output for one of input, so the excess over the bound is bounded.
            quote(String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) })))
        }
    }
}
