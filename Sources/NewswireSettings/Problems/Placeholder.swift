/// Words that examples hold where a secret belongs. With one of them the service would start and be refused by the hub, or be
/// open to everyone who has read the example.
enum Placeholder {
    /// True for a whole secret such as `REPLACE-ME`, `<token>` or `changeme`, also behind a word as in `Bearer REPLACE`.
    static func isSecret(_ text: String) -> Bool {
        stands(text[...]) || text.split(separator: " ").dropFirst().contains(where: stands)
    }

    /// True if a value of the connection string, or a part of its host's name, is one.
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
