import ArgumentParser
import Feeds
import Foundation

struct FeedsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feeds", abstract: "How fast a feed is read: one of usual size, and one of the largest.")

    @Option(help: "Rounds; the quickest counts.")
    var rounds = 5
    @Option(help: "Reads this file instead.")
    var file: String?
    @Flag(help: "One JSON object per document.")
    var json = false

    func run() throws {
        let documents =
            if let file { [(file, Array(try Data(contentsOf: URL(filePath: file))))] } else {
                [("RSS, 100 KB", FeedSample.rss(bytes: 100_000)), ("RSS, 10 MB", FeedSample.rss(bytes: 10_000_000))]
            }
        for (name, bytes) in documents {
            let figures = try FeedFigures(document: name, bytes: bytes, rounds: rounds)
            try report(figures, json: json) {
                name.padding(34) + String(format: "%8.1f MB/s %6d entries", figures.megabytesPerSecond, figures.entries)
            }
        }
    }
}

struct FeedFigures: Encodable {
    var document: String
    var megabytesPerSecond: Double
    var entries: Int

    init(document: String, bytes: [UInt8], rounds: Int) throws {
        self.document = document
        let source = DocumentSource(address: "https://news.example/rss.xml")
        var best = Duration.seconds(3_600)
        var count = 0
        // One reading of a small document is too short to be measured.
        let runs = max(5_000_000 / max(bytes.count, 1), 1)
        for _ in 0..<max(rounds, 1) {
            let time = try ContinuousClock().measure {
                for _ in 0..<runs {
                    let feed = try FeedReader.read(bytes, from: source)
                    count = feed.entries.count + feed.entriesLeftOut
                }
            }
            best = min(best, time / runs)
        }
        self.document = document
        entries = count
        megabytesPerSecond = Double(bytes.count) / 1e6 / (best / .seconds(1))
    }
}

/// RSS as news sites write it.
enum FeedSample {
    static func rss(bytes size: Int) -> [UInt8] {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:media="http://search.yahoo.com/mrss/"
              xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
            <title>World news</title><link>https://news.example/world</link><language>en-gb</language>
            <atom:link href="https://news.example/rss.xml" rel="self" type="application/rss+xml"/><ttl>15</ttl>

            """
        var number = 0
        while text.utf8.count < size {
            number += 1
            text += """
                <item><title><![CDATA[Council & mayor agree on budget no. \(number) – “a first”, say both]]></title>
                <link>https://news.example/world/article-\(number)?at_medium=RSS&amp;at_campaign=rss</link>
                <guid isPermaLink="false">https://news.example/world/article-\(number)#0</guid>
                <pubDate>Sun, 22 Nov 2026 1\(number % 10):\(10 + number % 50):00 GMT</pubDate><dc:creator>Jane Doe</dc:creator>
                <category>World</category><category domain="http://cv.iptc.org/newscodes/mediatopic/">20000574</category>
                <media:thumbnail width="240" height="135" url="https://img.news.example/240/\(number).jpg"/>
                <description>&lt;p&gt;After weeks of talks the council &amp;amp; the mayor agreed on Tuesday; \
                the vote is next week.&lt;/p&gt;</description>
                <content:encoded><![CDATA[<p>After weeks of talks the council &amp; the mayor agreed.</p><p>“It is a first,” \
                she said, <a href="https://news.example/\(number)">as reported</a>.</p><p>Both sides had until Friday.</p>]]>\
                </content:encoded></item>

                """
        }
        return Array((text + "</channel></rss>\n").utf8)
    }
}
