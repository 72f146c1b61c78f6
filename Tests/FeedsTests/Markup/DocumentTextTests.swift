import Testing

@testable import Feeds

struct DocumentTextTests {
    private func read(_ bytes: [UInt8], charset: String? = nil) -> String {
        String(decoding: DocumentText.utf8(bytes, charset: charset), as: UTF8.self)
    }

    private func declared(_ encoding: String, _ bytes: UInt8...) -> [UInt8] {
        Array("<?xml version='1.0' encoding='\(encoding)'?>".utf8) + bytes
    }

    private func content(_ bytes: [UInt8], charset: String? = nil) -> String {
        read(bytes, charset: charset).split(separator: ">", maxSplits: 1).last.map { String($0) } ?? ""
    }

    @Test func `valid UTF-8 is read as UTF-8 whatever is declared`() {
        #expect(content(declared("iso-8859-1") + Array("é".utf8), charset: "us-ascii") == "é")
        #expect(read([0xEF, 0xBB, 0xBF] + Array("<a/>".utf8)) == "<a/>")
    }

    @Test func `the content type overrides the declaration, and windows-1252 is the fallback`() {
        #expect(content(declared("iso-8859-2", 0xE8), charset: "windows-1251") == "и")
        #expect(content(declared("iso-8859-2", 0xE8)) == "č")
        #expect(content(declared("iso-8859-1", 0x93, 0xE9)) == "“é")
        #expect(content(declared("x-unheard-of", 0xE9)) == "é")
        #expect(read([0x61, 0xE9, 0x62]) == "aéb")
    }

    @Test(arguments: [
        ("gb2312", [0xC4, 0xE3], "你"), ("GBK", [0xC4, 0xE3], "你"), ("x-sjis", [0x82, 0xA0], "あ"),
        ("euc-jp", [0xA4, 0xA2], "あ"), ("euc-kr", [0xB3, 0xE2], "년"), ("big5", [0xA7, 0x41], "你"),
        ("koi8-r", [0xC1], "а"), ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x24, 0x22, 0x1B, 0x28, 0x42], "あ"),
        ("cp1251", [0xE8], "и"), ("latin1", [0x96], "–"),
    ])
    func `encodings of many scripts are read`(name: String, bytes: [UInt8], text: String) {
        #expect(content(declared(name) + bytes) == text)
    }

    @Test func `UTF-16 and UTF-32 are detected by their byte order mark or their zeros`() {
        let little = "<é/>".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let big = "<é/>".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(read([0xFF, 0xFE] + little) == "<é/>")
        #expect(read(big, charset: "utf-8") == "<é/>")
        #expect(read(little + [0x00, 0xDC, 0x61, 0x00]) == "<é/>\u{FFFD}a")
        let wide = "<é/>".unicodeScalars.flatMap { [0, 0, UInt8($0.value >> 8), UInt8($0.value & 0xFF)] }
        #expect(read([0, 0, 0xFE, 0xFF] + wide) == "<é/>")
    }

    @Test func `broken UTF-8 is repaired, with one replacement character for each part`() {
        #expect(content(declared("utf-8") + Array("éé".utf8) + [0xE9, 0x61, 0xF0, 0x9F]) == "éé\u{FFFD}a\u{FFFD}")
    }

    /// Japanese, Chinese and Russian, declared as UTF-8 or without a declaration.
    @Test(
        arguments: [
            [0x83, 0x6A, 0x83, 0x85, 0x81, 0x5B, 0x83, 0x58, 0x82, 0xF0, 0x93, 0x60, 0x82, 0xA6, 0x82, 0xE9],
            [0xD6, 0xD0, 0xB9, 0xFA, 0xD0, 0xC2, 0xCE, 0xC5], [0xCD, 0xEE, 0xE2, 0xEE, 0xF1, 0xF2, 0xE8],
        ] as [[UInt8]])
    func `text of another script that is declared as UTF-8 is refused`(bytes: [UInt8]) {
        let title = Array("<rss><channel><item><guid>1</guid><title>".utf8) + bytes + Array("</title>".utf8)
        for head in ["<?xml version='1.0' encoding='utf-8'?>", ""] {
            #expect(throws: NotAFeed.self) {
                try FeedReader.read(Array(head.utf8) + title, from: DocumentSource(address: "https://a.b/"))
            }
        }
    }

    @Test func `Western text that is declared as UTF-8 is read`() {
        let text = "<title>L\u{E9}gislatives \u{2013} \u{201C}d\u{E9}j\u{E0} vu\u{201D}, caf\u{E9}</title>"
        let bytes = text.unicodeScalars.map { scalar -> UInt8 in
            switch scalar.value {
            case 0x2013: 0x96
            case 0x201C: 0x93
            case 0x201D: 0x94
            default: UInt8(truncatingIfNeeded: scalar.value)
            }
        }
        let (read, isLegible) = DocumentText.decode(Array("<?xml encoding='utf-8'?>".utf8) + bytes, charset: "utf-8")
        #expect(isLegible && String(decoding: read, as: UTF8.self).hasSuffix(text))
    }

    @Test func `a character that the end of a chunk cuts is read`() {
        let bytes = declared("gb2312", 0x20) + [UInt8](repeating: 0x61, count: 4_001)
        for padding in 0..<8 {
            let text = content(
                bytes + [UInt8](repeating: 0x62, count: 40 + padding)
                    + Array(repeating: [0xC4, 0xE3], count: 40).joined())
            #expect(text.hasSuffix(String(repeating: "你", count: 40)) && !text.contains("\u{FFFD}"))
        }
    }
}
