import ByteText
import Feeds
import Foundation
import PublishEngine

extension IngestConfiguration {
    func check(_ reader: inout SettingsReader, lanes: [String], categories: [CategoryTable.Category]) {
        if !lanes.contains(feeds.lane) { reader.unknownLane("ingest.lane", feeds.lane, lanes) }
        if feeds.intervalMin > feeds.intervalMax {
            reader.report("ingest.interval.max", "is shorter than ingest.interval.min", "raise it, or lower the other")
        }
        if let contact, !Self.isHeaderText(contact) {
            reader.report("ingest.contact", "is not plain ASCII text", "write an address that publishers can use")
        }
        checkWebSub(&reader)
        let names = categories.flatMap { [$0.name] + $0.names }
        for feed in feeds.feeds { check(feed, &reader, lanes: lanes, categories: names) }
    }

    private func checkWebSub(_ reader: inout SettingsReader) {
        guard let url = feeds.webSubURL else { return }
        switch Self.problem(ofURL: url) {
        case let problem?: reader.report("ingest.websub.publicURL", problem, "write a public https address")
        case nil where url.hasPrefix("http:"):
            reader.report(
                "ingest.websub.publicURL", "is not https: anyone on the way can read what hubs push, and change it",
                "put a proxy with https in front of ingest.websub.listen", severity: .warning)
        case nil where webSubListen == nil:
            reader.report("ingest.websub.listen", "is off, so no hub can call", "write host:port, or remove publicURL")
        case nil: break
        }
    }

    private func check(
        _ feed: FeedRules, _ reader: inout SettingsReader, lanes: [String], categories: [String]
    ) {
        let path = "ingest.feeds" / feed.name
        if !Self.isName(feed.name) {
            reader.report(
                path, "is not a valid name for a feed",
                "use at most 100 characters without '/', line breaks or other control characters")
        }
        if reader.isSound(path / "url"), let problem = Self.problem(ofURL: feed.url) {
            reader.report(path / "url", problem, "write the feed's http or https address")
        }
        if let lane = feed.lane, !lanes.contains(lane) { reader.unknownLane(path / "lane", lane, lanes) }
        let shortest = feed.intervalMin ?? feeds.intervalMin
        let longest = feed.intervalMax ?? feeds.intervalMax
        if shortest > longest, feed.intervalMin != nil || feed.intervalMax != nil {
            let key = feed.intervalMax == nil ? "min" : "max"
            reader.report(
                path / "interval" / key, "the shortest interval is longer than the longest",
                "write both, the shorter one as min")
        }
        if feed.onFirstSight == .all, feeds.backfillLane.isEmpty {
            reader.report(
                path / "onFirstSight", "there is no lane backfill that the old entries could go to",
                "add one under lanes, or write last:N")
        }
        var used = [(path / "category", feed.category), (path / "default", feed.otherwise)]
        used += reader.names(under: path / "map").map { (path / "map" / $0, feed.categoryMap[$0.lowercased()]) }
        for (path, category) in used {
            guard let category, !categories.contains(where: { $0.lowercased() == category.lowercased() }) else {
                continue
            }
            let hint = Spelling.question(for: category, among: categories)
            reader.report(
                path, "'\(category.prefix(60))' is not a category: such events are unroutable",
                hint ?? "add it under categories", severity: .warning)
        }
        for header in feed.headers where !Self.isHeader(header) {
            reader.report(
                path / "headers" / header.name, "is not a valid HTTP header", "use plain ASCII, without line breaks")
        }
        for host in feed.allowPrivate where host.isEmpty || host.contains(where: { "/ @".contains($0) }) {
            reader.report(
                path / "allowPrivate", "'\(host.prefix(60))' is not a host", "write host names or addresses only")
        }
    }

    private static func isName(_ name: String) -> Bool {
        (1...100).contains(name.utf8.count) && !name.contains("/")
            && name.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
            && name.first?.isWhitespace == false && name.last?.isWhitespace == false
    }

    private static func isHeader(_ header: HeaderField) -> Bool {
        !header.name.isEmpty && isHeaderText(header.value)
            && header.name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }

    private static func isHeaderText(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy { (0x20...0x7e).contains($0.value) }
    }

    /// The problem of an address. Does not repeat the address, because it may carry a key.
    private static func problem(ofURL text: String) -> String? {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), let host = url.host,
            !host.isEmpty
        else { return "is not an address" }
        if scheme != "http" && scheme != "https" { return "has the scheme \(scheme.prefix(20)), which is not fetched" }
        if url.user != nil || url.password != nil {
            return "holds a user name, which would stand in logs; use headers: {Authorization: …} instead"
        }
        return nil
    }
}

extension SettingsReader {
    fileprivate mutating func unknownLane(_ path: SettingsPath, _ lane: String, _ lanes: [String]) {
        guard isSound("lanes") else { return }
        let hint = Spelling.question(for: lane, among: lanes)
        report(path, "'\(lane.prefix(60))' is not a lane", hint ?? "known: \(lanes.joined(separator: ", "))")
    }
}
