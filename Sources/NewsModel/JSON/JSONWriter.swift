package import ByteText

/// Writes one JSON value into bytes that the caller owns.
///
/// ```swift
/// JSONWriter.write(into: &body) { json in
///     json.object { json in
///         json.field("title", event.headline)
///         json.field("link", event.link)              // nil: left out
///         json.object("data") { json in
///             for field in event.data { json.field(named: field.name, field.value) }
///         }
///     }
/// }
/// ```
/// It writes the commas and quotes; the caller ensures that names are unique and that objects hold only fields.
public struct JSONWriter: ~Copyable {
    private var bytes: GrowingBytes
    private var needsComma = false

    private init(_ bytes: consuming GrowingBytes) { self.bytes = bytes }

    /// Appends what `body` writes to `bytes`.
    public static func write(into bytes: inout [UInt8], _ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(GrowingBytes(capacity: 512))
        body(&writer)
        bytes.append(contentsOf: writer.bytes.bytes)
    }

    /// Appends the output of `body` to `bytes`. The writer takes over their memory meanwhile, so nothing is copied.
    package static func write(into bytes: inout GrowingBytes, _ body: (inout JSONWriter) -> Void) {
        var writer = JSONWriter(bytes)
        body(&writer)
        bytes = writer.bytes
    }

    public static func object(reserving capacity: Int = 256, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var writer = JSONWriter(GrowingBytes(capacity: capacity))
        writer.object(body)
        return Array(writer.bytes.bytes)
    }
}

// MARK: - Values: the whole document, or an array's elements

extension JSONWriter {
    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        enclose(in: UInt8(ascii: "{"), UInt8(ascii: "}"), body)
    }

    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        enclose(in: UInt8(ascii: "["), UInt8(ascii: "]"), body)
    }

    public mutating func value(_ text: String) {
        separate()
        text.withBytes { quote($0) }
    }

    public mutating func value(_ number: Int64) {
        separate()
        bytes.append(decimal: number)
    }

    public mutating func value(_ number: Int) { value(Int64(number)) }

    public mutating func value(_ flag: Bool) {
        separate()
        bytes.append(flag ? "true" : "false")
    }

    /// Infinity and NaN, which JSON does not have, become null.
    public mutating func value(_ number: Double) {
        guard number.isFinite else { return null() }
        separate()
        bytes.append(number.description)
    }

    /// An instant as RFC 3339 text.
    public mutating func value(_ instant: Instant) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(room: Instant.textLengthMax, instant.write)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Milliseconds with up to three decimals, rounded down to microseconds.
    public mutating func value(milliseconds duration: Duration) {
        separate()
        let microseconds = duration.nanoseconds / 1_000
        if microseconds < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes.append(decimal: microseconds.magnitude / 1_000)
        var rest = microseconds.magnitude % 1_000
        guard rest > 0 else { return }
        bytes.append(UInt8(ascii: "."))
        while rest > 0 {
            bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: rest / 100))
            rest = rest % 100 * 10
        }
    }

    public mutating func null() {
        separate()
        bytes.append("null")
    }

    /// Inserts finished JSON, such as a body built before. Not checked.
    public mutating func raw(_ json: some Collection<UInt8>) {
        separate()
        for byte in json { bytes.append(byte) }
    }
}

// MARK: - Fields: an object's members; absent values are left out

extension JSONWriter {
    public mutating func object(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        object(body)
    }

    public mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        self.name(name)
        array(body)
    }

    public mutating func array(_ name: StaticString, of texts: [String]) {
        array(name) { json in
            for text in texts { json.value(text) }
        }
    }

    public mutating func field(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        self.name(name)
        value(text)
    }

    public mutating func field(_ name: StaticString, _ number: Int64?) {
        guard let number else { return }
        self.name(name)
        value(number)
    }

    public mutating func field(_ name: StaticString, _ number: Int?) {
        guard let number else { return }
        self.name(name)
        value(number)
    }

    public mutating func field(_ name: StaticString, _ flag: Bool?) {
        guard let flag else { return }
        self.name(name)
        value(flag)
    }

    public mutating func field(_ name: StaticString, _ number: Double?) {
        guard let number else { return }
        self.name(name)
        value(number)
    }

    public mutating func field(_ name: StaticString, _ instant: Instant?) {
        guard let instant else { return }
        self.name(name)
        value(instant)
    }

    public mutating func field(_ name: StaticString, milliseconds duration: Duration?) {
        guard let duration else { return }
        self.name(name)
        value(milliseconds: duration)
    }

    public mutating func null(_ name: StaticString) {
        self.name(name)
        null()
    }

    public mutating func field(named name: String, _ text: String) {
        self.name(escaping: name)
        value(text)
    }

    public mutating func field(named name: String, _ number: Int64) {
        self.name(escaping: name)
        value(number)
    }

    /// Writes a member's name; exactly one value must follow. Names in the code need no escapes.
    public mutating func name(_ name: StaticString) {
        let count = name.utf8CodeUnitCount
        let comma = needsComma ? 1 : 0
        needsComma = false
        bytes.append(room: count + 4) { place in
            // Avoids a branch: without a comma the quote overwrites its place.
            place[0] = UInt8(ascii: ",")
            let quoted = place + comma
            quoted[0] = UInt8(ascii: "\"")
            (quoted + 1).initialize(from: name.utf8Start, count: count)
            quoted[count + 1] = UInt8(ascii: "\"")
            quoted[count + 2] = UInt8(ascii: ":")
            return comma + count + 3
        }
    }

    /// Writes a name from outside, with escapes.
    public mutating func name(escaping name: String) {
        value(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }
}

// MARK: - Bytes

extension JSONWriter {
    private mutating func enclose(in open: UInt8, _ close: UInt8, _ body: (inout JSONWriter) -> Void) {
        separate()
        bytes.append(open)
        needsComma = false
        body(&self)
        bytes.append(close)
        needsComma = true
    }

    @inline(__always)
    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        guard !JSONEscaping.isNeeded(in: text), let first = text.baseAddress else { return quote(escaping: text) }
        bytes.append(room: text.count + 2) { place in
            place[0] = UInt8(ascii: "\"")
            (place + 1).initialize(from: first, count: text.count)
            place[text.count + 1] = UInt8(ascii: "\"")
            return text.count + 2
        }
    }

    @inline(never)
    private mutating func quote(escaping text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        JSONEscaping.escape(text) { bytes.append($0) }
        bytes.append(UInt8(ascii: "\""))
    }
}
