import Foundation
import NewsModel
import TestSupport
import Testing

@Test(arguments: Outcome.allCases)
func `README and schema describe each outcome as the code does`(_ outcome: Outcome) throws {
    let readme = try String(contentsOf: repository.appending(path: "README.md"), encoding: .utf8)
    let deadLetter = outcome.isDeadLettered ? " yes |" : " |"
    #expect(readme.contains("\n| `\(outcome.rawValue)` | \(outcome.facts.meaning) |\(deadLetter)\n"))
    let schema = try JSONSerialization.jsonObject(
        with: Data(contentsOf: repository.appending(path: "schemas/news-result.schema.json")))
    let properties = try #require((schema as? [String: Any])?["properties"] as? [String: Any])
    let property = try #require(properties["outcome"] as? [String: Any])
    #expect((property["enum"] as? [String])?.contains(outcome.rawValue) == true)
    let description = try #require(property["description"] as? String)
    #expect(description.contains("\(outcome.rawValue): \(outcome.facts.meaning.replacing("`", with: ""))."))
}

@Test func `an outcome is a failure if and only if it is dead-lettered, and only held is not final`() {
    #expect(Outcome.allCases.filter { $0.facts.kind == .waiting } == [.held])
    #expect(Outcome.allCases.filter { $0.facts.kind == .sent } == [.accepted])
    #expect(Outcome.allCases.filter(\.isDeadLettered) == [.rejected, .exhausted, .unknown, .undecodable, .unroutable])
}
