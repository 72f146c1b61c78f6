import ByteText
import NotificationHub
import Testing

struct NotificationDetailsTests {
    /// The documented form, with members that must not be kept.
    private static let whole = """
        <NotificationDetails xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect" \
        xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><NotificationId>NH-1</NotificationId>\
        <Location>sb://ns.servicebus.windows.net/hub/messages/ID?api-version=2016-07</Location><State>Completed</State>\
        <EnqueueTime>2026-01-01T10:00:00Z</EnqueueTime><StartTime>2026-01-01T10:00:01.1234567Z</StartTime>\
        <EndTime>2026-01-01T10:00:02.5Z</EndTime><NotificationBody>{"a":"&lt;Count&gt;9&lt;/Count&gt;"}</NotificationBody>\
        <Tags>Sports</Tags><TargetPlatforms>apple,gcm</TargetPlatforms>\
        <ApnsOutcomeCounts><Outcome><Name>Success</Name><Count>3</Count></Outcome>\
        <Outcome><Name>WrongToken</Name><Count>1</Count></Outcome></ApnsOutcomeCounts>\
        <FcmV1OutcomeCounts><Outcome><Name>Success</Name><Count>2</Count></Outcome></FcmV1OutcomeCounts>\
        <PnsErrorDetailsUri>https://x.blob.core.windows.net/c?sig=SECRET</PnsErrorDetailsUri></NotificationDetails>
        """

    private func read(_ text: String) throws(NotificationDetailsProblem) -> NotificationDetails {
        try NotificationDetails(parsing: Array(text.utf8))
    }

    private func problem(_ text: String) -> NotificationDetailsProblem? {
        do throws(NotificationDetailsProblem) {
            _ = try read(text)
            return nil
        } catch {
            return error
        }
    }

    @Test func `state, times and counts are read, and members that grant access are skipped`() throws {
        let details = try read(Self.whole)
        #expect(details.state == .completed && details.state.isFinal)
        #expect(details.enqueuedAt == 1_767_261_600_000)
        #expect(details.startedAt == 1_767_261_601_123)
        #expect(details.endedAt == 1_767_261_602_500)
        #expect(
            details.counts == [
                .init(
                    platform: "apns", outcomes: [.init(name: "Success", count: 3), .init(name: "WrongToken", count: 1)]),
                .init(platform: "fcmv1", outcomes: [.init(name: "Success", count: 2)]),
            ])
        #expect(!"\(details)".contains("SECRET") && !"\(details)".contains("NH-1"))
    }

    @Test func `undocumented details are read tolerantly`() throws {
        let spaced = """
            \u{FEFF}<?xml version="1.0" encoding="utf-8"?>
            <n:NotificationDetails xmlns:n="x"> <!-- a note -->
             <n:State> cancelled </n:State> <n:StartTime>0001-01-01T00:00:00</n:StartTime>
             <n:EndTime>2026-01-01T10:00:02</n:EndTime> <n:EnqueueTime>soon</n:EnqueueTime>
             <n:Future><n:Deep>1</n:Deep></n:Future> <n:Tags/>
            </n:NotificationDetails>

            """
        let details = try read(spaced)
        #expect(details == NotificationDetails(state: .canceled, endedAt: 1_767_261_602_000))
        #expect(try read("<NotificationDetails><State>Odd</State></NotificationDetails>").state == .unknown)
        #expect(try read("<NotificationDetails><a>b</a></NotificationDetails>").state == .unknown)
    }

    @Test(arguments: [
        ("", NotificationDetailsProblem.malformed), ("no", .malformed), ("<html></html>", .notDetails),
        ("<!DOCTYPE x><NotificationDetails></NotificationDetails>", .malformed),
        ("<NotificationDetails/>", .notDetails),
        ("<NotificationDetails><State>Completed</State>", .malformed),
        ("<NotificationDetails><State>Completed</Stat></NotificationDetails>", .malformed),
        ("<NotificationDetails></NotificationDetails><NotificationDetails></NotificationDetails>", .malformed),
        ("<NotificationDetails></NotificationDetails>more", .malformed),
    ])
    func `any other document is refused`(text: String, expected: NotificationDetailsProblem) {
        #expect(problem(text) == expected)
    }

    private func counts(_ inside: String) -> String {
        "<NotificationDetails><ApnsOutcomeCounts>\(inside)</ApnsOutcomeCounts></NotificationDetails>"
    }

    @Test func `a count must be a whole number, and an outcome have a name`() throws {
        for bad in ["-1", "+1", "1.5", "", "1000000000001", "99999999999999999999", "x"] {
            #expect(problem(counts("<Outcome><Name>A</Name><Count>\(bad)</Count></Outcome>")) == .badCount, "\(bad)")
        }
        #expect(problem(counts("<Outcome><Name>A</Name></Outcome>")) == .badCount)
        for bad in ["", "a b", "a\"b", String(repeating: "x", count: 65)] {
            #expect(problem(counts("<Outcome><Name>\(bad)</Name><Count>1</Count></Outcome>")) == .badOutcome, "\(bad)")
        }
        let twice = try read(
            counts("<Outcome><Name>A</Name><Count>1</Count></Outcome><Outcome><Name>A</Name><Count>2</Count></Outcome>")
        )
        #expect(twice.counts.first?.outcomes == [.init(name: "A", count: 3)])
    }

    @Test func `the size, the depth and the number of counts are bounded`() {
        let body = String(repeating: "&lt;", count: 100_000)
        #expect(
            problem("<NotificationDetails><NotificationBody>\(body)</NotificationBody></NotificationDetails>") == nil)
        #expect(problem(Self.whole + String(repeating: " ", count: NotificationDetails.readMax)) == .tooLong)
        let deep = String(repeating: "<a>", count: 1_000) + String(repeating: "</a>", count: 1_000)
        #expect(problem("<NotificationDetails>\(deep)</NotificationDetails>") == .malformed)
        let many = (0..<65).map { "<Outcome><Name>A\($0)</Name><Count>1</Count></Outcome>" }.joined()
        #expect(problem(counts(many)) == .tooMany)
        let platforms = (0..<17).map { "<P\($0)OutcomeCounts></P\($0)OutcomeCounts>" }.joined()
        #expect(problem("<NotificationDetails>\(platforms)</NotificationDetails>") == .tooMany)
    }

    @Test func `no bytes trap the reader`() {
        let bytes = Array(Self.whole.utf8)
        for end in bytes.indices { #expect((try? NotificationDetails(parsing: Array(bytes[..<end]))) == nil) }
        var random = SeededRandom(seed: 11)
        for _ in 0..<3_000 {
            var changed = bytes
            for _ in 0..<3 {
                changed[Int(random.next() % UInt64(changed.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            if let details = try? NotificationDetails(parsing: changed) { #expect(details.counts.count <= 2) }
        }
    }

    @Test func `the target has the id as one segment of its path`() throws {
        let endpoint = try HubEndpoint(parsing: "sb://ns.servicebus.windows.net/")
        let path = HubPath(endpoint: endpoint, hub: try HubName("news"))
        #expect(path.details(of: "a/b?c") == "/news/messages/a%2Fb%3Fc?api-version=2016-07")
    }
}
