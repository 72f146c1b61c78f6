/// Words that replace secrets in examples. A service with one of them would be refused by the hub, or be open to everyone who
/// has read the example.
enum Placeholder {
    /// True for a whole secret such as `REPLACE-ME`, `<token>` or `changeme`, also after a word as in `Bearer REPLACE`.
    static func isSecret(_ text: String) -> Bool {
        stands(text[...]) || text.split(separator: " ").dropFirst().contains(where: stands)
    }

    /// True if a value of the connection string, or a part of its host's name, is a placeholder.
    static func isIn(connectionString text: String) -> Bool {
        text.split(separator: ";").contains { part in
            let value = part.firstIndex(of: "=").map { part[$0...].dropFirst() } ?? part
            return stands(value) || value.contains("<") || value.split { "/.:".contains($0) }.contains(where: stands)
        }
    }

    private static func stands(_ text: Substring) -> Bool {
        if text.hasPrefix("REPLACE") || text.first == "<" && text.last == ">" { return true }
        return ["changeme", "replaceme"].contains(text.lowercased().filter { !"_- ".contains($0) })
    }
}
