import ByteText

/// The field names of requests, each checked and converted once, because the same few names repeat.
struct FieldNames {
    /// The version of HTTP, which decides how a name is written.
    enum Form { case http1, http2 }

    private let form: Form
    /// Names that passed the check, each with the beginning of its field.
    private var known: [(name: String, length: Int, beginning: [UInt8])] = []
    private static let knownMax = 16

    init(_ form: Form) { self.form = form }

    /// Writes the beginning of the field: for HTTP/1.1 the name's line up to the value, for HTTP/2 a literal name in
    /// lower case. It is at most 6 bytes longer than the name.
    /// - Returns: false if a request may not contain a field of this name. In this case nothing is written.
    mutating func write(_ name: String, to memory: inout UnsafeMutableRawBufferPointer) -> Bool {
        // Lengths are compared first, because that is faster and the names in use differ in length.
        let length = name.utf8.count
        for index in known.indices where known[index].length == length && known[index].name == name {
            memory.write(known[index].beginning)
            return true
        }
        guard name.isFieldName, !name.isOwnFieldName else { return false }
        let beginning: [UInt8]
        switch form {
        case .http1: beginning = Array("\r\n\(name): ".utf8)
        case .http2:
            guard !name.isConnectionFieldName else { return false }
            beginning = [0] + HPACK.literal(name.asciiLowercased)
        }
        if known.count == Self.knownMax { known.removeFirst() }
        known.append((name, length, beginning))
        memory.write(beginning)
        return true
    }
}

extension String {
    var isFieldValue: Bool { withBytes { $0.span.isPrintableASCII } }

    /// True for a text without anything but spaces and tabs.
    var isBlank: Bool { withBytes { $0.allSatisfy(\.isSpaceOrTab) } }

    fileprivate var isFieldName: Bool {
        !isEmpty && utf8.allSatisfy(\.isTokenCharacter)
    }

    /// True for visible ASCII that begins with a slash.
    var isRequestTarget: Bool {
        utf8.first == UInt8(ascii: "/") && utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// True for fields that the writer adds itself, and those that delimit the request. A duplicate could make the
    /// server read the body as another request.
    fileprivate var isOwnFieldName: Bool {
        switch utf8.count {
        case 4: equalsInLowerCase("host")
        case 10: equalsInLowerCase("connection") || equalsInLowerCase("user-agent")
        case 12: equalsInLowerCase("content-type")
        case 13: equalsInLowerCase("authorization")
        case 14: equalsInLowerCase("content-length")
        case 17: equalsInLowerCase("transfer-encoding")
        case 27: equalsInLowerCase("servicebusnotification-tags")
        case 29: equalsInLowerCase("servicebusnotification-format")
        default: false
        }
    }

    /// True for the other fields that HTTP/2 forbids in a request, because they concern one HTTP/1.1 connection
    /// (RFC 9113 §8.2.2). `TE` is permitted with one value only and has no use here.
    fileprivate var isConnectionFieldName: Bool {
        switch utf8.count {
        case 2: equalsInLowerCase("te")
        case 7: equalsInLowerCase("upgrade")
        case 10: equalsInLowerCase("keep-alive")
        case 14: equalsInLowerCase("http2-settings")
        case 16: equalsInLowerCase("proxy-connection")
        default: false
        }
    }

    private func equalsInLowerCase(_ word: StaticString) -> Bool {
        word.withUTF8Buffer { expected in
            utf8.elementsEqual(expected) { $0 | 0x20 == $1 }
        }
    }
}
