import Foundation
import TestSupport

/// Checks that an article shows code that is compiled.
enum Article {
    /// - Parameters:
    ///   - article: a path from the root of the repository.
    ///   - test: a source file with the same code between the lines `// snippet` and `// end`.
    /// - Returns: the article's first Swift block, and the code in the source file without its indentation.
    static func code(of article: String, and test: String) throws -> (shown: [Substring], compiled: [Substring]) {
        let text = try String(contentsOf: repository.appending(path: article), encoding: .utf8)
        let source = try String(contentsOf: repository.appending(path: test), encoding: .utf8)
        let compiled = lines(of: source, between: "// snippet", and: "// end")
        let indentation = compiled.first?.prefix { $0 == " " }.count ?? 0
        return (lines(of: text, between: "```swift", and: "```"), compiled.map { $0.dropFirst(indentation) })
    }

    private static func lines(of text: String, between first: String, and last: String) -> [Substring] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let isMark = { (mark: String) in { (line: Substring) in line.drop { $0 == " " } == mark } }
        return Array(lines.drop { !isMark(first)($0) }.dropFirst().prefix { !isMark(last)($0) })
    }
}
