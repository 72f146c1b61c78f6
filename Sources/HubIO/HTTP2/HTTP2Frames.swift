/// The first nine bytes of a frame, RFC 9113 §4.1.
struct FrameHeader {
    static let size = 9
    /// The longest payload in either direction, unless the receiver announces more (RFC 9113 §6.5.2). We do not.
    static let usualPayloadMax = 16_384

    enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let reset: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let goAway: UInt8 = 7
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    enum Flag {
        static let ack: UInt8 = 1
        static let endStream: UInt8 = 1
        static let endHeaders: UInt8 = 4
        static let padded: UInt8 = 8
        static let priority: UInt8 = 32
    }

    /// The bytes of the payload.
    var length: Int
    var kind: UInt8
    var flags: UInt8 = 0
    /// The stream; 0 for the connection.
    var stream: UInt32 = 0

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    /// The first eight bytes, the most significant one first. The last byte is the lowest of `stream`.
    var word: UInt64 {
        UInt64(length) << 40 | UInt64(kind) << 32 | UInt64(flags) << 24 | UInt64(stream >> 8)
    }
}

extension FrameHeader {
    /// Reads the nine bytes at the beginning.
    init(_ bytes: Span<UInt8>) {
        length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
        kind = bytes[3]
        flags = bytes[4]
        // The highest bit is reserved and ignored.
        stream = bytes.number(at: 5) & 0x7FFF_FFFF
    }
}

extension Span<UInt8> {
    /// Four bytes as one number, the most significant byte first.
    func number(at index: Int) -> UInt32 {
        UInt32(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self))
    }
}

/// An error code of `RST_STREAM` or `GOAWAY`, RFC 9113 §7. A server may send others.
package struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = Self(rawValue: 0)
    package static let protocolError = Self(rawValue: 1)
    package static let internalError = Self(rawValue: 2)
    package static let flowControlError = Self(rawValue: 3)
    package static let settingsTimeout = Self(rawValue: 4)
    package static let streamClosed = Self(rawValue: 5)
    package static let frameSizeError = Self(rawValue: 6)
    package static let refusedStream = Self(rawValue: 7)
    package static let cancel = Self(rawValue: 8)
    package static let compressionError = Self(rawValue: 9)
    package static let connectError = Self(rawValue: 10)
    package static let enhanceYourCalm = Self(rawValue: 11)
    package static let inadequateSecurity = Self(rawValue: 12)
    package static let http11Required = Self(rawValue: 13)
}

/// The limits that we announce to the server and that its frames must keep.
package struct HTTP2LocalSettings: Hashable, Sendable {
    /// Bytes of a reply's header list: names, values, and 32 for each field (RFC 9113 §6.5.2).
    package let headerListMax: Int
    /// Bytes of a reply's body.
    package let bodyMax: Int
    /// Bytes of DATA frames that one stream may carry, 65,535…2³¹−1. The window of a stream is never extended, because
    /// it holds the longest permitted body, and as much padding.
    package let streamWindow: Int
    /// Bytes of DATA frames that the server may send before we return a part of the window, 65,535…2³¹−1.
    package let connectionWindow: Int

    /// The window that every connection and stream begins with.
    static let initialWindow = 65_535
    static let windowMax = Int(Int32.max)

    /// - Parameters:
    ///   - headBytesMax: the longest header list, in bytes. All heads of one reply count, and its trailers.
    ///   - bodyBytesMax: the longest body, in bytes.
    ///   - connectionWindow: is raised to 65,535 bytes if it is less.
    package init(headBytesMax: Int, bodyBytesMax: Int, connectionWindow: Int = 1 << 20) {
        headerListMax = min(headBytesMax, Self.windowMax)
        bodyMax = min(bodyBytesMax, Self.windowMax / 2)
        streamWindow = max(2 * bodyMax, Self.initialWindow)
        self.connectionWindow = min(max(connectionWindow, Self.initialWindow), Self.windowMax)
    }
}

/// The values in one SETTINGS frame of the server; `nil` for a value that it does not contain. RFC 9113 §6.5.2.
package struct HTTP2PeerSettings: Hashable, Sendable {
    /// The bytes of our encoder's dynamic table; 4,096 until the server says otherwise.
    package var headerTableSize: UInt32?
    /// The streams that may be open at once. It may be 0, and fall below the number of open streams.
    package var maxConcurrentStreams: UInt32?
    /// The window of each new stream, 0…2³¹−1 bytes. The windows of open streams change by the difference, and may
    /// become negative (RFC 9113 §6.9.2).
    package var initialWindowSize: UInt32?
    /// The longest payload of our frames, 16,384…16,777,215 bytes.
    package var maxFrameSize: UInt32?

    package init() {}

    /// Reads the payload of the frame. Unknown settings are ignored.
    init(_ payload: Span<UInt8>) throws(HTTP2Violation) {
        guard payload.count.isMultiple(of: 6) else { throw .badFrameLength }
        for start in stride(from: 0, to: payload.count, by: 6) {
            let value = payload.number(at: start + 2)
            switch Int(payload[start]) << 8 | Int(payload[start + 1]) {
            case Self.headerTableSizeID: headerTableSize = value
            case Self.enablePushID: guard value == 0 else { throw .badSetting }
            case Self.maxConcurrentStreamsID: maxConcurrentStreams = value
            case Self.initialWindowSizeID:
                guard value <= HTTP2LocalSettings.windowMax else { throw .badWindowSetting }
                initialWindowSize = value
            case Self.maxFrameSizeID:
                guard (16_384...16_777_215).contains(value) else { throw .badSetting }
                maxFrameSize = value
            default: break
            }
        }
    }

    static let headerTableSizeID = 1
    static let enablePushID = 2
    static let maxConcurrentStreamsID = 3
    static let initialWindowSizeID = 4
    static let maxFrameSizeID = 5
    static let maxHeaderListSizeID = 6
}

/// The reason why a connection cannot be used any longer.
package enum HTTP2Violation: String, Error, Hashable, Sendable, CaseIterable {
    case notHTTP2 = "the server does not begin with HTTP/2 settings"
    case frameTooLong = "a frame is longer than was announced"
    case badFrameLength = "a frame has the wrong length for its type"
    case badStream = "a frame names a stream that cannot carry it"
    case badPadding = "the padding is longer than its frame"
    case badSetting = "a setting has a value out of range"
    case badWindowSetting = "the initial window is too large"
    case brokenHeaderBlock = "a header block is interrupted, or continued without a beginning"
    case headerBlockTooLong = "a header block is too long"
    case badCompression = "a header block cannot be decoded"
    case push = "the server pushes although that is disabled"
    case goAwayRaised = "a later GOAWAY accepts more streams"
    case badWindowUpdate = "the connection's window is extended by zero bytes"
    case windowExceeded = "the server sends more than the window permits"
    case flood = "too many frames came without a reply"

    /// The code for `GOAWAY`.
    package var code: HTTP2ErrorCode {
        switch self {
        case .frameTooLong, .badFrameLength: .frameSizeError
        case .badWindowSetting, .windowExceeded: .flowControlError
        case .badCompression: .compressionError
        case .headerBlockTooLong, .flood: .enhanceYourCalm
        default: .protocolError
        }
    }
}
