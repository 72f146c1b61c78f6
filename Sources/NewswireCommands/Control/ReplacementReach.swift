package import EditorialControl
import NewsModel
package import PublishEngine

extension WrittenReplacement {
    /// Returns the reasons why not everybody who has the story gets the replacement, if processes have these settings. Categories,
    /// languages and tags may have changed since the story was sent.
    package func unreached(by rules: ContentRules) -> [String] {
        let reasons = events.compactMap { written -> String? in
            if let refusal = rules.policy.refusal(of: written.event) { return refusal.detail }
            switch rules.router.route(written.event, isForEverybody: true) {
            case .unroutable(let failure): return failure.detail
            case .tagged(let routing):
                let lost = written.tags.subtracting(routing.tags).sorted()
                return lost.isEmpty ? nil : "it went to \(lost.joined(separator: ", ")), which the replacement does not"
            }
        }
        return Set(reasons).sorted()
    }

    /// Returns false if nobody gets the replacement, if processes have these settings.
    package func reachesAnybody(by rules: ContentRules) -> Bool {
        events.contains { written in
            guard rules.policy.refusal(of: written.event) == nil,
                case .tagged = rules.router.route(written.event, isForEverybody: true)
            else { return false }
            return true
        }
    }
}
