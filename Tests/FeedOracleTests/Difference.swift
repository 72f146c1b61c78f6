import Feeds
import NewsModel

/// A value that another reader interprets differently.
struct Difference: CustomStringConvertible {
    enum Field: String { case refused, count, feedTitle, id, headline, summary, link, publishedAt, updatedAt }

    var path: String
    var field: Field
    var ours: String?
    var theirs: String?
    /// Our entry, if the difference is about one.
    var entry: FeedEntry?

    var description: String { "\(path): \(field) is \(ours ?? "nil"), theirs \(theirs ?? "nil")" }

    static func between(_ ours: Result<FeedDocument, NotAFeed>, _ theirs: TheirFeed) -> [Difference] {
        let path = theirs.path.split(separator: "/feeds/").last.map { String($0) } ?? theirs.path
        guard case .success(let document) = ours else {
            return theirs.entries.isEmpty ? [] : [Difference(path: path, field: .refused, ours: "\(ours)")]
        }
        let entries = document.entries.filter { $0.status == .usable }
        guard entries.count == theirs.entries.count else {
            let counts = ("\(entries.count)", "\(theirs.entries.count)")
            return [Difference(path: path, field: .count, ours: counts.0, theirs: counts.1)]
        }
        var differences: [Difference] = []
        func compare(_ field: Field, _ ours: String?, _ theirs: String?, _ entry: FeedEntry? = nil) {
            guard ours != theirs else { return }
            differences.append(Difference(path: path, field: field, ours: ours, theirs: theirs, entry: entry))
        }
        compare(.feedTitle, document.title, theirs.title)
        for (our, their) in zip(entries, theirs.entries) {
            compare(.id, our.id, their.id, our)
            compare(.headline, our.headline, their.title, our)
            if let summary = their.summary { compare(.summary, our.summary, summary, our) }
            compare(.link, our.link, their.link, our)
            // feedparser treats Dublin Core's date as an update.
            let published = their.published ?? their.created ?? their.updated
            compare(.publishedAt, seconds(our.publishedAt), published.map { "\(Int64($0))" }, our)
            if their.updated != published {
                compare(.updatedAt, seconds(our.updatedAt), their.updated.map { "\(Int64($0))" }, our)
            }
        }
        return differences
    }

    private static func seconds(_ date: Instant?) -> String? { date.map { "\($0.milliseconds / 1_000)" } }
}
