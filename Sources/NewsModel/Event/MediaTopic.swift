/// IPTC media topic codes, recognised in all spellings in use.
package enum MediaTopic {
    /// `medtop:15000000` for any spelling of it: `medtop:` or `subj:` codes, addresses below `cv.iptc.org/newscodes/`,
    /// eight bare digits. `nil` for anything else.
    ///
    /// Codes that begin with 20 are media topics below the top. The 17 top-level codes (01000000 to 17000000) are equal
    /// in media topics and older subject codes. Finer subject codes (15054000) are reduced to their top.
    package static func canonical(_ text: some BidirectionalCollection<UInt8>) -> String? {
        let digits = text.suffix(8)
        guard digits.count == 8, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        let prefix = text.dropLast(8)
        guard
            prefix.isEmpty || prefix.elementsEqual("medtop:".utf8) || prefix.elementsEqual("subj:".utf8)
                || isNewsCodesAddress(prefix)
        else { return nil }
        switch Int(String(decoding: digits.prefix(2), as: UTF8.self)) {
        case .some(1...17): return "medtop:" + String(decoding: digits.prefix(2), as: UTF8.self) + "000000"
        case 20: return "medtop:" + String(decoding: digits, as: UTF8.self)
        default: return nil
        }
    }

    /// `http(s)://cv.iptc.org/newscodes/mediatopic/` or `…/subjectcode/`, also as the `scheme` of a bare code.
    package static func isNewsCodesAddress(_ text: some BidirectionalCollection<UInt8>) -> Bool {
        let address = text.dropLast(text.last == UInt8(ascii: "/") ? 1 : 0)
        return addresses.contains { address.elementsEqual($0.utf8) }
    }

    private static let addresses = ["http", "https"].flatMap { scheme in
        ["mediatopic", "subjectcode"].map { "\(scheme)://cv.iptc.org/newscodes/\($0)" }
    }
}
