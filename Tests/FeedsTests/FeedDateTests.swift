import ByteText
import Feeds
import NewsModel
import Testing

struct FeedDateTests {
    @Test(arguments: [
        // RFC 3339 and W3C
        ("2026-11-21T01:02:03Z", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T01:02:03.1234567+02:00", "2026-11-20T23:02:03.123456700Z"),
        ("2026-11-21t01:02:03z", "2026-11-21T01:02:03.000Z"),
        (" \n2026-11-21 01:02:03Z\t", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T01:02:03+0100", "2026-11-21T00:02:03.000Z"),
        ("2026-11-21T01:02:03+01", "2026-11-21T00:02:03.000Z"),
        ("2026-11-21T01:02:03,5Z", "2026-11-21T01:02:03.500Z"),
        ("2026-11-21T01:02Z", "2026-11-21T01:02:00.000Z"),
        ("2026-11-21T01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T01:02:03", "2026-11-21T01:02:03.000Z"),
        ("2026-11-21T24:00:00Z", "2026-11-22T00:00:00.000Z"),
        ("2026-11-21", "2026-11-21T00:00:00.000Z"),
        ("2026-11-21+01:00", "2026-11-20T23:00:00.000Z"),
        ("2026-11-21-05:00", "2026-11-21T05:00:00.000Z"),
        ("2026-11", "2026-11-01T00:00:00.000Z"),
        ("2026-11-05:00", "2026-11-01T05:00:00.000Z"),
        ("2026", "2026-01-01T00:00:00.000Z"),
        ("2003-012-31", "2003-12-31T00:00:00.000Z"),
        ("2003-335", "2003-12-01T00:00:00.000Z"),
        ("2006/01/02 15:04", "2006-01-02T15:04:00.000Z"),
        ("2006-1-2 5:4:3 PM", "2006-01-02T17:04:03.000Z"),
        // NITF and other basic forms
        ("20261121T010203-0500", "2026-11-21T06:02:03.000Z"),
        ("20261121T010203Z", "2026-11-21T01:02:03.000Z"),
        ("20261121T0102+0100", "2026-11-21T00:02:00.000Z"),
        ("20080219+0100", "2008-02-18T23:00:00.000Z"),
        ("20261121", "2026-11-21T00:00:00.000Z"),
        ("20261121010203", "2026-11-21T01:02:03.000Z"),
        ("202611210102", "2026-11-21T01:02:00.000Z"),
        // RFC 822, correct and as it is really sent
        ("Sat, 21 Nov 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("Mon, 21 Nov 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("Saturday, 21 November 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("sat, 21 nov 2026 01:02:03 gmt", "2026-11-21T01:02:03.000Z"),
        ("Thurs, 21 Nov 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("Fri,24 Nov 2006 01:02:03 GMT", "2006-11-24T01:02:03.000Z"),
        ("Sat 21 Nov 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("21 Nov 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("21 Nov 26 1:2:3 GMT", "2026-11-21T01:02:03.000Z"),
        ("21 Nov 95 01:02 GMT", "1995-11-21T01:02:00.000Z"),
        ("Sat, Nov 21 2026 01:02:03 GMT", "2026-11-21T01:02:03.000Z"),
        ("Nov 21, 2026 1:02 AM", "2026-11-21T01:02:00.000Z"),
        ("Nov 21, 2026 at 12:02 AM", "2026-11-21T00:02:00.000Z"),
        ("21 Nov 2026", "2026-11-21T00:00:00.000Z"),
        ("Sat, 21 Nov 2026", "2026-11-21T00:00:00.000Z"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37.000Z"),
        ("2nd Nov 2026", "2026-11-02T00:00:00.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 EST", "2026-11-21T06:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 BST", "2026-11-21T00:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 CEST", "2026-11-20T23:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 +0200", "2026-11-20T23:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 +02:00", "2026-11-20T23:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 -700", "2026-11-21T08:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 --0700", "2026-11-21T08:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 GMT-05:00", "2026-11-21T06:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 MST-07:00", "2026-11-21T08:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 -0700 GMT", "2026-11-21T08:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 GMT+0000 (Coordinated Universal Time)", "2026-11-21T01:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 Etc/GMT", "2026-11-21T01:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 Etc/GMT+5", "2026-11-21T06:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 0000", "2026-11-21T01:02:03.000Z"),
        ("Sat, 21 Nov 2026 01:02:03 IST", "2026-11-21T01:02:03.000Z"),
        ("Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00.000Z"),
        // asctime and similar forms
        ("Sat Nov 21 01:02:03 2026", "2026-11-21T01:02:03.000Z"),
        ("Mon Nov  2 01:02:03 EST 2026", "2026-11-02T06:02:03.000Z"),
        ("Sat Nov 21 01:02:03 +0100 2026", "2026-11-21T00:02:03.000Z"),
        ("Fri, 2006/09/15 08:19:53 EDT", "2006-09-15T12:19:53.000Z"),
        // Other languages
        ("Sa, 21 Mär 2026 01:02:03 +0100", "2026-03-21T00:02:03.000Z"),
        ("Samstag, 21. MÄRZ 2026, 01:02 Uhr", "2026-03-21T01:02:00.000Z"),
        ("21.11.2026 01:02", "2026-11-21T01:02:00.000Z"),
        ("Di, 01 Dez 2026 01:02:03 MEZ", "2026-12-01T00:02:03.000Z"),
        ("mar. 3 févr. 2026 01:02:03 +0100", "2026-02-03T00:02:03.000Z"),
        ("mar 3 mars 2026 01:02:03 GMT", "2026-03-03T01:02:03.000Z"),
        ("sam, 1er août 2026 01:02:03 GMT", "2026-08-01T01:02:03.000Z"),
        ("jeu, 02 juil 2026 01:02:03 GMT", "2026-07-02T01:02:03.000Z"),
        ("3 de enero de 2026", "2026-01-03T00:00:00.000Z"),
        ("Κυρ, 11 Ιούλ 2004 12:00:00 EST", "2004-07-11T17:00:00.000Z"),
        ("2004-július-13T9:15-05:00", "2004-07-13T14:15:00.000Z"),
        ("2004년 05월 28일  01:31:15", "2004-05-27T16:31:15.000Z"),
        ("2004-05-25 오후 11:23:17", "2004-05-25T14:23:17.000Z"),
        ("2026年11月21日 01:02", "2026-11-21T01:02:00.000Z"),
        // Unix time
        ("1763686923", "2025-11-21T01:02:03.000Z"),
        ("1763686923456", "2025-11-21T01:02:03.456Z"),
    ])
    func `dates are read in all forms`(text: String, date: String) {
        #expect(FeedDate.read(text)?.description == date)
        #expect(FeedDate.read(utf8: Array(text.utf8))?.description == date)
    }

    @Test(arguments: [
        "", " ", "yesterday", "now", "0", "12", "1/2/2006 3:04 PM", "11/21/2026", "--12-31", "03-12-31", "12:00",
        "Mon, 30 Feb 2026 01:02:03 GMT", "2026-02-30", "2026-13-01", "2026-11-21T25:00:00Z", "2026-11-21T24:00:01Z",
        "2026-11-21T01:60:00Z", "2026-11-21T01:02:03+15:00", "2026-11-21T01:02:03-13:00", "2026-11-21T01:02:03+01:60",
        "1989-12-31T23:59:59Z", "Thu, 01 Jan 1970 00:00:00 GMT", "9999-12-31T00:00:00Z", "21 Nov", "Nov 2026",
        "Sat, 21 Nov 126 01:02:03 GMT", "Sat, 21 Foo 2026 01:02:03 GMT", "2026-11-21 17", "2003-366", "2003-000-01",
        "Sat, 21 Nov 2026 13:02:03 PM", "999999999999999999", "9999999999999999999999",
        "2026-11-21T01:02:03Z" + String(repeating: " x", count: 60),
    ])
    func `a text that is not one certain date is unreadable`(text: String) {
        #expect(FeedDate.read(text) == nil)
    }

    @Test(arguments: ["2026-11-21 01:02:03", "Sat, 21 Nov 2026 01:02:03", "Sat, 21 Nov 2026 01:02:03 IST"])
    func `a date without a known zone is in the feed's own zone`(text: String) {
        #expect(FeedDate.read(text, zoneMinutes: 90)?.description == "2026-11-20T23:32:03.000Z")
    }

    @Test(arguments: ["2026-11-21T01:02:03Z", "Sat, 21 Nov 2026 01:02:03 GMT"])
    func `a date with a zone is not in the feed's own zone`(text: String) {
        #expect(FeedDate.read(text, zoneMinutes: 90)?.description == "2026-11-21T01:02:03.000Z")
    }

    @Test func `a date two days ahead is plausible, but a later one is not`() throws {
        let now = try #require(FeedDate.read("2026-11-21T00:00:00Z"))
        #expect(FeedDate.isPlausible(now + .seconds(48 * 3_600), at: now))
        #expect(!FeedDate.isPlausible(now + .seconds(48 * 3_600 + 1), at: now))
        #expect(FeedDate.isPlausible(.distantPast, at: .distantPast))
    }

    @Test func `no text causes a trap, and a date that was read is read again from its own text`() {
        var random = SeededRandom(seed: 4)
        let seeds = [
            "Sat, 21 Nov 2026 01:02:03 +0100", "2026-11-21T01:02:03.123Z", "2004년 05월 28일  01:31:15", "1763686923456",
            "mar. 3 févr. 2026 à 01:02 PM (x)", "20261121T010203-0500",
        ].map { Array($0.utf8) }
        let spice = Array("0129:-+./,()TZ amp \t\u{0}é년".utf8) + [0xFF, 0xC0, 0x80]
        for _ in 0..<30_000 {
            var text = seeds[Int.random(in: 0..<seeds.count, using: &random)]
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0...text.count, using: &random)
                let end = min(place + Int.random(in: 0...3, using: &random), text.count)
                let more = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    spice[Int.random(in: 0..<spice.count, using: &random)]
                }
                text.replaceSubrange(place..<end, with: more)
            }
            let date = FeedDate.read(utf8: text)
            #expect(date == FeedDate.read(utf8: text[...]))
            if let date { #expect(FeedDate.read(date.description) == date) }
        }
    }
}

/// One point in time in every combination of its spellings.
struct FeedDateTableTests {
    @Test(
        arguments: [
            ("2026-07-01 12:00 America/Los_Angeles", "2026-07-01T19:00:00.000Z"),
            ("2026-12-01 12:00:00 America/Los_Angeles", "2026-12-01T20:00:00.000Z"),
            ("2026-03-08 01:59 America/New_York", "2026-03-08T06:59:00.000Z"),
            ("2026-03-08 03:00 America/New_York", "2026-03-08T07:00:00.000Z"),
            ("2026-11-01 02:00 America/New_York", "2026-11-01T07:00:00.000Z"),
            ("Wed, 01 Jul 2026 12:00:00 Europe/Berlin", "2026-07-01T10:00:00.000Z"),
            ("2026-03-29 01:59 Europe/Berlin", "2026-03-29T00:59:00.000Z"),
            ("2026-03-29 03:00 Europe/Berlin", "2026-03-29T01:00:00.000Z"),
            ("2026-10-25 03:00 Europe/Berlin", "2026-10-25T02:00:00.000Z"),
            ("2026-07-01 12:00 America/Argentina/Buenos_Aires", "2026-07-01T15:00:00.000Z"),
            ("2026-07-01 12:00 Asia/Kolkata", "2026-07-01T06:30:00.000Z"),
            ("2026-07-01 12:00 +02:00 Nowhere/Atlantis", "2026-07-01T10:00:00.000Z"),
            ("2026-07-01 12:00 Nowhere/Atlantis", nil),
        ] as [(String, String?)])
    func `a place names its zone, and an unknown place makes a date unreadable`(text: String, utc: String?) {
        #expect(FeedDate.read(text)?.description == utc)
    }

    private static let zones: [(text: String, minutes: Int)] = [
        ("", 0), (" GMT", 0), (" UT", 0), (" Z", 0), ("Z", 0), (" EST", -300), (" PDT", -420), (" CET", 60),
        (" BST", 60),
        (" +0200", 120), (" +02:00", 120), ("+02:00", 120), (" -0730", -450), (" -700", -420), (" GMT-05:00", -300),
        (" UTC+2", 120), (" Etc/GMT", 0), (" XYZ", 0), (" 0000", 0), (" +0200 (CEST)", 120), (" -0700 GMT", -420),
        (" +05:45", 345), (" +14:00", 840), (" -12:00", -720),
    ]

    @Test(arguments: ["", "Mon, ", "Tue ", "Thursday, ", "Thurs, ", "fri,", "lun. ", "Mo, ", "Δευ, "])
    func `every combination of day, date, time and zone means the same`(day: String) throws {
        let dates = [
            "02 Jan 2006", "2 Jan 2006", "Jan 02 2006", "Jan 2, 2006", "January 2nd, 2006", "02 January 2006",
            "02 Jan 06",
            "02-Jan-2006", "2. Januar 2006", "2 janv. 2006", "2 de enero de 2006", "02.01.2006", "2006-01-02",
            "2006/01/02",
            "2006-Jan-02", "20060102", "2006年01月02日 ", "02 Ιαν 2006",
        ]
        let times: [(text: String, seconds: Int)] = [
            (" 15:04:05", 54_245), (" 15:04", 54_240), (" 3:04PM ", 54_240), (" 5:4:3", 18_243), (", 15:04:05", 54_245),
            ("T15:04:05", 54_245), (" 24:00:00", 86_400), (" 00:00", 0), (" 12:30 am ", 1_800),
        ]
        let midnight = try #require(FeedDate.read("2006-01-02T00:00:00Z"))
        var wrong: [String] = []
        for date in dates {
            for time in times {
                for zone in Self.zones {
                    let text = day + date + time.text + zone.text
                    let expected = midnight + .seconds(time.seconds - zone.minutes * 60)
                    if FeedDate.read(text) != expected { wrong.append(text) }
                }
            }
        }
        #expect(wrong == [])
    }
}
