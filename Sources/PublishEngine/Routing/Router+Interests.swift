import NewsModel
import NotificationHub

// Readers who follow what an event is about, beside its categories.

extension Router {
    /// Routes an event to the readers of its categories and to the followers of its interests, in as few sends as the hub's
    /// limit of tags allows.
    ///
    /// An event that names interests and neither category nor subject is for their followers only; `unroutable` adds nobody.
    ///
    /// - Parameter tagsMax: the maximum number of category tags.
    func routeToFollowers(_ event: NewsEvent, tagsMax: Int) -> Routing {
        let found = audience.interests.find(event.interests)
        let hasClaims = !event.categories.isEmpty || !event.subjects.isEmpty
        var about: Routing.Tagged?
        if hasClaims {
            switch route(byCategoriesOf: event, tagsMax: tagsMax) {
            case .tagged(let tagged): about = tagged
            case .unroutable(var failure):
                guard found.names.isEmpty else { break }
                failure.detail = "\(failure.detail); \(found.shownUnknown)"
                return .unroutable(failure)
            }
        }
        guard about != nil || !found.names.isEmpty else {
            return .unroutable(
                .init(
                    .unknownInterest,
                    "the event names no category, and no reader can follow its interests: \(found.shownUnknown)"))
        }
        var seen: Set<Tag> = []
        let tags = ((about?.tags ?? []) + found.tags.flatMap { audience.readers?.tags(of: $0) ?? [$0] }).filter {
            text in
            (try? Tag(text)).map { seen.insert($0).inserted } ?? false
        }
        return .tagged(sends(to: tags[...], tags: tags, about, found))
    }
}

extension InterestTable.Found {
    /// The first unknown interests, for a message.
    var shownUnknown: String {
        unknown.prefix(3).joined(separator: "; ") + (unknown.count > 3 ? "; and \(unknown.count - 3) more" : "")
    }
}
