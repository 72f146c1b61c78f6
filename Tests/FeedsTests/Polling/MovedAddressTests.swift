import Feeds
import NewsModel
import Testing

private let start = Instant(milliseconds: 1_000_000_000_000)
private let old = "https://old.example/feed"
private let new = "https://new.example/feed"

private func move(_ hops: [(Int, String)]) -> PermanentMove? {
    var from = old
    let redirects = hops.map { status, to in
        defer { from = to }
        return FetchAnswer.Redirect(status: status, from: from, to: to)
    }
    let answer = FetchAnswer(
        status: 200, redirects: redirects, finalURL: from, bodyHash: "h",
        document: .feed(FeedDocument(format: .rss20)))
    guard case .changed(_, let receipt) = AnswerVerdict(.answered(answer), to: FetchRequest(url: old), at: start) else {
        return nil
    }
    return receipt.move
}

struct MovedAddressTests {
    @Test(
        arguments: [
            ([], nil), ([(301, new)], new), ([(308, new)], new), ([(302, new)], nil), ([(303, new)], nil),
            ([(307, new)], nil), ([(301, "https://a.example/"), (308, new)], new),
            ([(301, new), (302, "https://cdn.example/")], new), ([(302, "https://cdn.example/"), (301, new)], nil),
            ([(301, "https://old.example/login?next=feed")], nil), ([(301, "https://wifi.hotel.example/")], nil),
            ([(301, "https://old.example/blogin")], "https://old.example/blogin"), ([(301, old)], nil),
        ] as [([(Int, String)], String?)])
    func `only permanent redirects that begin at the configured address prove a move`(
        hops: [(Int, String)], to: String?
    ) {
        #expect(move(hops)?.to == to)
        #expect(to == nil || move(hops)?.from == old)
    }

    @Test func `a new address is used after three consecutive polls over at least a day`() {
        let found = move([(301, new)])
        var trial = MovedAddress.after(nil, found, at: start)
        #expect(trial?.isProven(at: start + .seconds(90_000)) == false)
        trial = MovedAddress.after(trial, found, at: start + .seconds(60))
        trial = MovedAddress.after(trial, found, at: start + .seconds(120))
        #expect(trial?.isProven(at: start + .seconds(86_399)) == false)
        #expect(trial?.isProven(at: start + .seconds(86_400)) == true)
        for _ in 0..<1_000 { trial = MovedAddress.after(trial, found, at: start) }
        #expect(trial?.polls == 3)
    }

    @Test func `another address starts another trial, and an answer without a move ends it`() {
        let first = MovedAddress.after(nil, move([(301, new)]), at: start)
        let second = MovedAddress.after(first, move([(301, "https://third.example/")]), at: start + .seconds(1))
        #expect(second?.polls == 1)
        #expect(second?.since == start + .seconds(1))
        #expect(MovedAddress.after(second, nil, at: start + .seconds(2)) == nil)
    }

    @Test(arguments: [(Int.min, 1), (0, 1), (2, 2), (Int.max, 3)])
    func `a stored count of polls is put within bounds`(polls: Int, kept: Int) {
        #expect(MovedAddress(restoring: PermanentMove(from: old, to: new), since: start, polls: polls).polls == kept)
    }
}
