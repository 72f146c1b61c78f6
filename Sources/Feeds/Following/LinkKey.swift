/// The identity of a link: different spellings of one page's address are the same link.
enum LinkKey {
    static func of(_ link: String) -> String { isKey(link) ? link : WebAddress(link)?.identityKey ?? link }

    /// Returns true for an address that is its own key, as most addresses in feeds are.
    private static func isKey(_ link: String) -> Bool {
        let bytes = link.utf8
        return bytes.starts(with: "https://".utf8) && bytes.dropFirst(8).contains(UInt8(ascii: "/"))
            && !bytes.contains { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } && WebAddress.isNormal(link)
    }
}
