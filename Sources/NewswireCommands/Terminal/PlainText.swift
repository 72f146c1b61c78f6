extension StringProtocol {
    /// On one line, and without characters that a terminal obeys: no text from outside may move the cursor.
    package var plain: String {
        String(map { $0.isNewline || $0 == "\t" ? " " : $0 }.filter { !$0.isControl })
    }
}

extension Character {
    fileprivate var isControl: Bool {
        unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}
