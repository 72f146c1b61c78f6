import ByteText
public import Tracing

/// A position in a trace: the part of W3C Trace Context that all versions share.
public struct TraceContext: Sendable, Hashable {
    public var traceID: TraceID
    public var spanID: SpanID
    /// True if the sender records this trace.
    public var isSampled: Bool
    /// The vendors' `tracestate`, passed on unchanged.
    public var state: String?

    /// A trace's id: 16 bytes, never all zero.
    public struct TraceID: Sendable, Hashable {
        var high: UInt64
        var low: UInt64
    }

    /// A span's id: 8 bytes, never all zero.
    public struct SpanID: Sendable, Hashable {
        var value: UInt64
    }

    init(traceID: TraceID, spanID: SpanID, isSampled: Bool, state: String? = nil) {
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
        self.state = state
    }

    /// - Parameter parent: a `traceparent` header. Fails if W3C Trace Context §3.2.2 requires ignoring it.
    public init?(parent: String, state: String? = nil) {
        let text = Array(parent.utf8)
        // A later version may be longer, after another dash.
        guard text.count >= 55, text[2] == Self.dash, text[35] == Self.dash, text[52] == Self.dash,
            let version = Self.hex(text[..<2]), version != 0xff,
            text.count == 55 || version > 0 && text[55] == Self.dash,
            let high = Self.hex(text[3..<19]), let low = Self.hex(text[19..<35]), high | low != 0,
            let span = Self.hex(text[36..<52]), span != 0, let flags = Self.hex(text[53..<55])
        else { return nil }
        self.init(
            traceID: TraceID(high: high, low: low), spanID: SpanID(value: span), isSampled: flags & 1 == 1, state: state
        )
    }

    /// The `traceparent` header for the next service.
    public var parent: String { "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")" }

    private static let dash = UInt8(ascii: "-")

    /// Parses up to 16 digits, in lower case as the standard requires.
    private static func hex(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return value
    }
}

extension TraceContext.TraceID: CustomStringConvertible {
    static func random(using random: inout some RandomNumberGenerator) -> Self {
        Self(high: .random(in: .min ... .max, using: &random), low: .random(in: 1 ... .max, using: &random))
    }

    public var description: String { high.hexDigits + low.hexDigits }
}

extension TraceContext.SpanID: CustomStringConvertible {
    static func random(using random: inout some RandomNumberGenerator) -> Self {
        Self(value: .random(in: 1 ... .max, using: &random))
    }

    public var description: String { value.hexDigits }
}

private enum TraceContextKey: InstrumentationContextKey {
    typealias Value = TraceContext
}

extension InstrumentationContext {
    public var traceContext: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }
}
