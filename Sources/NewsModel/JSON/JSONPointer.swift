/// A JSON Pointer (RFC 6901): the path from a document to values in it, such as `/teaser/title`.
///
/// In addition to the RFC, the token `*` stands for every element of an array, as in `/authors/*/id`. In an object it is an
/// ordinary name. The token `-`, which the RFC uses for the element after the last one, finds nothing.
package struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    package let description: String
    private let tokens: [Token]

    private struct Token: Hashable, Sendable {
        var name: [UInt8]
        /// The position in an array; `nil` if the token is no array index.
        var index: Int?
        var isEvery: Bool { name == [UInt8(ascii: "*")] }

        /// - Returns: `nil` if a `~` is not followed by `0` or `1`.
        init?(_ text: Substring) {
            name = []
            var rest = text.utf8[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "~") else {
                    name.append(byte)
                    continue
                }
                switch rest.popFirst() {
                case UInt8(ascii: "0"): name.append(UInt8(ascii: "~"))
                case UInt8(ascii: "1"): name.append(UInt8(ascii: "/"))
                default: return nil
                }
            }
            // An index has no sign and no leading zeros.
            guard text == "0" || text.first.map({ ("1"..."9").contains($0) }) == true else { return }
            index = text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
        }
    }

    /// - Returns: `nil` unless the text is a JSON Pointer. The empty text is the pointer to the whole document.
    package init?(_ text: String) {
        description = text
        var tokens: [Token] = []
        if !text.isEmpty {
            guard text.hasPrefix("/") else { return nil }
            for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
                guard let token = Token(part) else { return nil }
                tokens.append(token)
            }
        }
        self.tokens = tokens
    }

    /// True if the pointer may find more than one value.
    package var findsSeveral: Bool { tokens.contains(where: \.isEvery) }

    /// Passes each value at the pointer to `visit`, in the document's order, until it returns `false`.
    ///
    /// - Throws: `duplicateKey` if a name on the way is given more than once in its object, and the errors of `visit`.
    package func visit(
        in document: JSONValue, _ visit: (JSONValue) throws(Undecodable) -> Bool
    ) throws(Undecodable) {
        _ = try follow(tokens[...], from: document, visit)
    }

    /// Passes the value whose elements the first `*` stands for to `visit`. Does nothing without a `*`.
    ///
    /// - Throws: as the other method does.
    package func visitList(
        in document: JSONValue, _ visit: (JSONValue) throws(Undecodable) -> Bool
    ) throws(Undecodable) {
        guard let star = tokens.firstIndex(where: \.isEvery) else { return }
        _ = try follow(tokens[..<star], from: document, visit)
    }

    /// - Returns: `false` if `visit` has returned `false`.
    private func follow(
        _ tokens: ArraySlice<Token>, from value: JSONValue, _ visit: (JSONValue) throws(Undecodable) -> Bool
    ) throws(Undecodable) -> Bool {
        guard let token = tokens.first else { return try visit(value) }
        let rest = tokens.dropFirst()
        switch value {
        case .object(let object):
            guard let member = try member(token, of: object) else { return true }
            return try follow(rest, from: member, visit)
        case .array(let array):
            for (position, element) in array.enumerated() where token.isEvery || position == token.index {
                guard try follow(rest, from: element, visit) else { return false }
                if !token.isEvery { break }
            }
            return true
        case .null, .boolean, .integer, .unsigned, .number, .string: return true
        }
    }

    private func member(_ token: Token, of object: JSONObject) throws(Undecodable) -> JSONValue? {
        var found: JSONValue?
        for member in object where member.name.elementsEqual(token.name) {
            guard found == nil else {
                throw Undecodable(.duplicateKey, "\(Undecodable.quote(member.name)) is given more than once")
            }
            found = member.value
        }
        return found
    }
}
