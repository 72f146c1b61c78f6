import Feeds
import TestSupport
import Testing

struct CorpusTests {
    @Test(.enabled(if: Corpus.allCases.allSatisfy(\.isThere), Corpus.isMissing), arguments: Corpus.allCases)
    func `every document is read without a trap`(corpus: Corpus) throws {
        var feeds = 0
        let paths = try corpus.documents()
        for path in paths {
            if case .success = try Corpus.read(path) { feeds += 1 }
        }
        #expect(feeds > paths.count * 8 / 10)
    }
}
