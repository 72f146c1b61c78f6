import NewswireSettings
import Testing

@Test func `a text larger than the bound is refused without reading it`() {
    let document = SettingsDocument(String(repeating: "# filler\n", count: 500_000))
    #expect(document.problems.map(\.message) == ["the file is larger than 4096 KiB"])
}

@Test func `aliases that multiply their content are refused`() {
    var bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for level in 1...9 {
        let references = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
        bomb += "a\(level): &a\(level) [\(references)]\n"
    }
    #expect(SettingsDocument(bomb).problems.map(\.message) == ["more than 16 YAML aliases (*name)"])
}

@Test func `a few aliases are followed`() {
    let document = SettingsDocument("a: &lane {topics: [x]}\nb: *lane\n# *this* is not one\n")
    #expect(document.problems == [])
    #expect(document.entries.map(\.key) == ["a", "b"])
}

@Test func `more values than the bound are refused`() {
    let document = SettingsDocument("a: [" + String(repeating: "1,", count: 400_000) + "]")
    #expect(document.problems.map(\.message) == ["more than 300000 values"])
}

@Test(arguments: [
    "", "\n", "---\n", "# only a comment", "a", "[]", "\u{0}", "\t", "a: b: c", "{{{{", "- - - -",
    "%YAML 9.9\n---\na: 1",
    "a: !!binary x", "--- a\n--- b", "a: |\n  x", "? ? ?", "&a *a", "*a", "\u{FEFF}a: 1", "a: \"\\ud800\"",
    "\r\na: 1\r\na: 2",
    "'a': 1\n\"a\": 2", "\"\\x61\": 1\na: 2", "? &x a\n: 1\na: 2",
    String(repeating: "[", count: 50_000), String(repeating: "{a: ", count: 5_000),
    String(repeating: "- ", count: 50_000),
])
func `a malformed text is read without a trap`(text: String) {
    _ = LoadedSettings(text)
}

@Test func `thousands of random texts are read without a trap`() {
    let alphabet = Array("kafka: lanes{}[]&*!|>'\"%@`,?-#$~:\n\n  \t\u{0}\u{85}ü😀${file}hub rate burst 0123456789")
    var state: UInt64 = 0x9E37_79B9
    for _ in 0..<3000 {
        var text = ""
        for _ in 0..<60 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            text.append(alphabet[Int(state >> 33) % alphabet.count])
        }
        _ = LoadedSettings(text)
    }
}

@Test func `lines and columns are those of the text, even with Windows line breaks`() {
    let loaded = LoadedSettings("kafka:\r\n  group: x\r\n  grup: y\r\n")
    #expect(loaded.problems.first { $0.key == "kafka.grup" }?.place == .file(line: 3, column: 3))
}
