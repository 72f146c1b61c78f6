import ByteText

/// Encodings by the names that feeds declare.
enum Charset {
    static let utf8 = "UTF-8"
    static let windows1252 = "WINDOWS-1252"
    static let iso2022JP = "ISO-2022-JP"

    /// Returns iconv's name for an encoding; `nil` for one that is not read. Only these names reach iconv, because its
    /// rarer converters have had faults.
    static func known(_ label: String) -> String? {
        let key = label.trimmed.asciiLowercased.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        if let name = names[key] { return name }
        for (prefix, name) in [("iso8859", "ISO-8859-"), ("windows125", "WINDOWS-125"), ("cp125", "WINDOWS-125")]
        where key.hasPrefix(prefix) {
            guard let number = Int(key.dropFirst(prefix.utf8.count)) else { return nil }
            // Text declared as Latin-1 is read as its superset, as in every browser.
            if name == "ISO-8859-" {
                return number == 1 ? windows1252 : (2...16).contains(number) ? "\(name)\(number)" : nil
            }
            return (0...8).contains(number) ? "\(name)\(number)" : nil
        }
        return nil
    }

    /// Keys are labels in lower case, with letters and digits only.
    private static let names: [String: String] = [
        "utf8": utf8, "unicode": utf8, "unicode11utf8": utf8, "usascii": windows1252, "ascii": windows1252,
        "latin1": windows1252, "l1": windows1252, "ansi": windows1252, "iso885911987": windows1252,
        "latin2": "ISO-8859-2", "latin5": "WINDOWS-1254", "iso88599": "WINDOWS-1254", "latin9": "ISO-8859-15",
        "gb2312": "GB18030", "gbk": "GB18030", "gb18030": "GB18030", "xgbk": "GB18030", "cp936": "GB18030",
        "windows936": "GB18030", "gb231280": "GB18030", "euccn": "GB18030",
        "big5": "BIG5-HKSCS", "big5hkscs": "BIG5-HKSCS", "cp950": "BIG5-HKSCS", "xxbig5": "BIG5-HKSCS",
        "shiftjis": "CP932", "xsjis": "CP932", "sjis": "CP932", "cp932": "CP932", "windows31j": "CP932",
        "mskanji": "CP932", "eucjp": "EUC-JP", "xeucjp": "EUC-JP", "iso2022jp": iso2022JP,
        "euckr": "UHC", "ksc56011987": "UHC", "cp949": "UHC", "windows949": "UHC", "uhc": "UHC",
        "koi8r": "KOI8-R", "koi8": "KOI8-R", "koi8u": "KOI8-U", "ibm866": "IBM866", "cp866": "IBM866",
        "macintosh": "MACINTOSH", "mac": "MACINTOSH", "xmaccyrillic": "MAC-CYRILLIC", "tis620": "TIS-620",
        "windows874": "WINDOWS-874", "iso885911": "WINDOWS-874", "viscii": "VISCII",
    ]
}
