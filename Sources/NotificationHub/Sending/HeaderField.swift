import ByteText

/// One HTTP header field of a request.
public struct HeaderField: Sendable, Hashable {
    /// Compared without case by whoever receives it.
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }

    /// Whether the field can stand in an HTTP/1.1 request as it is: the name is a token, the value is printable ASCII,
    /// spaces and tabs. A line break in a value would start a header of its own; non-ASCII text is mangled on the way.
    /// RFC 9110 §5.1, §5.5.
    public var isSendable: Bool {
        !name.isEmpty && name.utf8.allSatisfy(\.isTokenCharacter)
            && value.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
    }
}

extension UInt8 {
    /// A letter, a digit or one of the marks that RFC 9110 §5.6.2 allows in a token.
    fileprivate var isTokenCharacter: Bool {
        isASCIILetter || isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}
