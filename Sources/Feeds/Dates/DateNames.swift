/// The names of months in the languages of the feeds that spell them.
enum MonthName {
    /// Prefixes, in lower case; no two of them begin the same word.
    private static let prefixes: [(month: Int, names: [String])] = [
        (1, ["jan", "jän", "ene", "gen", "ιαν"]),
        (2, ["feb", "fév", "fev", "φεβ"]),
        (3, ["mar", "mär", "mrz", "mrt", "maa", "már", "μάρ", "μαρ", "μάώ", "μαώ"]),
        (4, ["apr", "avr", "abr", "ápr", "απρ"]),
        (5, ["may", "mai", "mei", "maj", "mag", "máj", "máu", "μάι", "μαϊ", "μαι", "μαΐ"]),
        (6, ["jun", "juin", "giu", "jún", "ιουν", "ιούν", "ιον"]),
        (7, ["jul", "juil", "lug", "júl", "ιουλ", "ιούλ", "ιολ"]),
        (8, ["aug", "aoû", "aou", "ago", "αυγ", "αύγ"]),
        (9, ["sep", "szep", "set", "σεπ"]),
        (10, ["oct", "okt", "ott", "out", "οκτ"]),
        (11, ["nov", "νοε", "νοέ"]),
        (12, ["dec", "dez", "déc", "dic", "des", "δεκ"]),
    ]

    /// English names are compared first, as numbers, because nearly all feeds use them.
    private static let english = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ].map { key($0) }

    /// The first three bytes.
    private static func key(_ word: String) -> UInt32 { word.utf8.prefix(3).reduce(0) { $0 << 8 | UInt32($1) } }

    /// - Parameter word: in lower case; whole or abbreviated.
    static func month(_ word: String) -> Int? {
        if let index = english.firstIndex(of: key(word)) { return index + 1 }
        // Compares bytes, because comparing characters would cost more than the rest of a date.
        return prefixes.first { $0.names.contains { word.utf8.starts(with: $0.utf8) } }?.month
    }
}

/// The zones that feeds name, if the name has one meaning in feeds. BST for Bangladesh or IST for Israel would be wrong
/// for most senders. BST is therefore British here, and IST is unknown.
enum ZoneName {
    /// Returns the minutes east of UTC.
    /// - Parameter word: in lower case.
    static func minutes(_ word: String) -> Int? { hours[word].map { $0 * 60 } }

    private static let hours = [
        "ut": 0, "utc": 0, "gmt": 0, "z": 0, "wet": 0,
        "bst": 1, "west": 1, "met": 1, "mest": 2, "cet": 1, "cest": 2, "mez": 1, "mesz": 2, "eet": 2, "eest": 3,
        "msk": 3, "jst": 9, "kst": 9, "aest": 10, "aedt": 11,
        "adt": -3, "ast": -4, "edt": -4, "est": -5, "cdt": -5, "cst": -6, "mdt": -6, "mst": -7, "pdt": -7, "pst": -8,
        // Names for both halves of the year. They are read as summer time, in which most such feeds were seen.
        "et": -4, "ct": -5, "mt": -6, "pt": -7,
        // Military letters, with the signs of RFC 822.
        "a": -1, "m": -12, "n": 1, "y": 12,
    ]
}
