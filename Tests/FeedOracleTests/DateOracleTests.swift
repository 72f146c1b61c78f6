import Feeds
import Foundation
import NewsModel
import TestSupport
import Testing

/// Compares our dates with those of feedparser, which has read feeds for twenty years.
struct DateOracleTests {
    private struct Reading: Decodable {
        var text: String
        /// Seconds since 1970; `nil` if feedparser cannot read the date.
        var seconds: Int64?
    }

    @Test(
        .enabled(if: RealNews.folder != nil, "set NEWSWIRE_TEST_DATA to a folder with feeds/ to run this"),
        .enabled(if: Python(with: "feedparser") != nil, "install feedparser to run this"))
    func `dates of real feeds, and of a table of spellings, are those that feedparser reads`() async throws {
        let python = try #require(Python(with: "feedparser"))
        let folder = try #require(RealNews.folder?.appending(path: "feeds"))
        let (status, output) = try await python.run(
            script: "dates_oracle.py", arguments: [folder.path], input: Self.spellings.joined(separator: "\n"))
        #expect(status == 0)
        var compared = 0
        var differing: Set<String> = []
        for line in output.split(separator: "\n") {
            let theirs = try JSONDecoder().decode(Reading.self, from: Data(line.utf8))
            // Separate tests cover the dates that feedparser cannot read.
            guard let seconds = theirs.seconds else { continue }
            compared += 1
            let ours = FeedDate.read(theirs.text).map { $0.nanoseconds / 1_000_000_000 }
            guard ours != seconds else { continue }
            differing.insert(theirs.text)
            #expect(Self.differences[theirs.text] != nil, "\(theirs.text): \(ours ?? 0), feedparser has \(seconds)")
        }
        #expect(compared > 800)
        #expect(differing == Set(Self.differences.keys), "the list of differences has one too many")
    }

    /// The spellings that feedparser's authors intended to support.
    private static let spellings: [String] = {
        var spellings: [String] = []
        for day in ["", "Mon, ", "Tue ", "Thurs, "] {
            for date in ["02 Jan 2006", "2 Jan 2006", "Jan 02 2006", "02 January 2006", "02 Jan 06"] {
                for time in [" 15:04:05", " 15:04", " 5:4:3"] {
                    for zone in [
                        " GMT", " UT", " Z", " EST", " PDT", " +0200", " +02:00", " -0730", " GMT-05:00", " Etc/GMT",
                        " X",
                    ] {
                        spellings.append(day + date + time + zone)
                    }
                }
            }
        }
        for time in ["T15:04:05", "T15:04", "T15:04:05.5", " 15:04:05"] {
            for zone in ["Z", "+02:00", "-07:30"] { spellings.append("2006-01-02" + time + zone) }
        }
        return spellings + ["2006", "2006-01", "2006-01-02", "20060102", "2006-333", "Mon Jan  2 15:04:05 2006"]
    }()

    private static let differences = [
        // The intended day is unknown, so we refuse these dates. feedparser carries over into the next unit.
        "2003-07-32T15:51:30-05:00": "no such day",
        "2003-07-32T15:51:30-0500": "no such day",
        "2003-06-31T15:51:30-05:00": "no such day",
        "2003-06-31T15:51:30-0500": "no such day",
        "2003-13-01T15:51:30-0500": "no such month",
        "2003-07-01T25:51:30-0500": "no such hour",
        "2003-07-01T01:61:30-05:00": "no such minute",
        "2003-07-01T01:61:30-0500": "no such minute",
        "2003-07-01T01:55:61-05:00": "no such second",
        "2003-07-01T01:55:61-0500": "no such second",
        "2002-12-31T192030+01:00": "feedparser drops a time without colons",
        "Fri, 06 May 1983 09:00:00 CST": "before 1990: a clock that was never set",
    ]
}
