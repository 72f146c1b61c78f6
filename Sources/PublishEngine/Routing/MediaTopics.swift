/// The part of the IPTC Media Topics (and of the older Subject Codes) that routing needs: the notation of a code, and the
/// broader topic it belongs to.
///
/// The table has the 17 top topics, the level below, and a few deeper topics. A deeper code outside the table has no
/// known broader topic, so it matches only if the settings name it.
/// Source: cv.iptc.org/newscodes/mediatopic, CC BY 4.0. Retired topics stay, since archives still carry them.
enum MediaTopics {
    /// Reads `medtop:11000000`, `subj:11000000`, `11000000` or the topic's address on cv.iptc.org.
    /// - Returns: the eight digits as a number; `nil` for anything that is neither a media topic nor a subject code.
    static func code(_ text: String) -> UInt32? {
        let bytes = text.utf8
        guard bytes.count >= 8, bytes.count <= 80 else { return nil }
        var code: UInt32 = 0
        for byte in bytes.suffix(8) {
            guard (0x30...0x39).contains(byte) else { return nil }
            code = code * 10 + UInt32(byte - 0x30)
        }
        guard (20_000_001...20_009_999).contains(code) || (1...17).contains(code / 1_000_000) else { return nil }
        if bytes.count == 8 { return code }
        let prefix = String(decoding: bytes.dropLast(8), as: UTF8.self).lowercased()
        return prefixes.contains(prefix) ? code : nil
    }

    /// The top of a finer subject code, which events have in its place; `nil` for other codes.
    static func topOfSubjectCode(_ code: UInt32) -> UInt32? {
        code < 20_000_000 && code % 1_000_000 != 0 ? code - code % 1_000_000 : nil
    }

    /// The code in the form of events: `medtop:11000000`.
    static func text(_ code: UInt32) -> String { "medtop:" + (code < 10_000_000 ? "0" : "") + String(code) }

    /// Every topic of the table.
    static var known: [UInt32] {
        children.flatMap { broader, narrower in [broader] + narrower.map { 20_000_000 + $0 } }
    }

    private static let prefixes = [
        "medtop:", "subj:",
        "http://cv.iptc.org/newscodes/mediatopic/", "https://cv.iptc.org/newscodes/mediatopic/",
        "http://cv.iptc.org/newscodes/subjectcode/", "https://cv.iptc.org/newscodes/subjectcode/",
    ]

    /// The next broader topic; `nil` at the top and for a topic outside the table.
    static func broader(_ code: UInt32) -> UInt32? {
        if code >= 20_000_000 { return parents[code] }
        // A subject code contains its path: two digits for the subject and three each for matter and detail, and its
        // top level has the numbers of the media topics.
        if code % 1_000 != 0 { return code - code % 1_000 }
        if code % 1_000_000 != 0 { return code - code % 1_000_000 }
        return nil
    }

    private static let parents: [UInt32: UInt32] = {
        var parents: [UInt32: UInt32] = [:]
        for (broader, narrower) in children {
            for code in narrower { parents[20_000_000 + code] = broader }
        }
        return parents
    }()

    /// The last four digits of each topic's narrower topics.
    private static let children: [(UInt32, [UInt32])] = [
        (01_000_000, [2, 38, 45]),
        (02_000_000, [82, 106, 119, 121, 129]),
        (03_000_000, [139, 148, 160, 167, 168]),
        (04_000_000, [170, 209, 344, 385]),
        (05_000_000, [398, 399, 400, 410, 411, 412, 413, 414, 415, 416, 1216, 1217, 1337, 1338]),
        (06_000_000, [418, 420, 424, 430, 441]),
        (07_000_000, [446, 461, 463, 464, 480, 483, 484, 485, 493]),
        (08_000_000, [497, 498, 499, 500, 501, 502, 503, 504, 505, 507, 1237, 1238]),
        (09_000_000, [509, 521, 523, 524, 531, 533, 536]),
        (10_000_000, [538, 565, 1339]),
        (11_000_000, [574, 593, 621, 638, 646, 647, 648, 649]),
        (20_000_638, [644]),
        (12_000_000, [657, 687, 688, 689, 690, 696, 697, 702, 703, 705]),
        (13_000_000, [710, 715, 717, 735, 741, 742, 755, 756, 1361]),
        // 587, fundamental rights, stood below politics until 2024.
        (14_000_000, [587, 768, 770, 771, 772, 775, 780, 788, 799, 802, 808, 817]),
        (15_000_000, [822, 1103, 1104, 1108, 1124, 1125, 1126, 1148, 1301, 1323, 1324, 1325]),
        (20_000_822, [1065]),
        (16_000_000, [53, 56, 65, 70, 71, 73, 77, 80]),
        (17_000_000, [1128, 1129, 1130, 1131]),
    ]
}
