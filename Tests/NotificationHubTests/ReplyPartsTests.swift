import NotificationHub
import Testing

/// The time Sun, 06 Nov 1994 08:49:37 GMT, in Unix seconds.
private let now: Int64 = 784_111_777

@Test(
    arguments: [
        ("0", 0), ("17", 17), (" 120 ", 120), ("86400", 86_400), ("86401", 86_400),
        ("99999999999999999999999999", 86_400),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1994 08:50:07 GMT", 30),
        ("Sunday, 06-Nov-94 08:50:07 GMT", 30), ("Sun Nov  6 08:50:07 1994", 30),
        ("Mon, 07 Nov 1994 08:49:36 GMT", 86_399), ("Fri, 31 Dec 9999 23:59:59 GMT", 86_400),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Mon, 01 Jan 0001 00:00:00 GMT", 0),
        ("Friday, 01-Jan-60 00:00:00 GMT", 0),
        ("", nil), ("-1", nil), ("+5", nil), ("1.5", nil), ("soon", nil), ("٣", nil),
        ("Sun, 06 Nov 1994 08:49:37 PST", nil), ("Wed, 31 Feb 1994 08:49:37 GMT", nil),
        ("Sun, 06 Nov 1994 24:00:00 GMT", nil), ("Sun, 06 Nov 994 08:49:37 GMT", nil),
        ("Sun, 00 Nov 1994 08:49:37 GMT", nil),
        (String(repeating: "9", count: 65), nil),
    ] as [(String, Int?)])
func `Retry-After is read as seconds or as a date, and bounded by a day`(value: String, seconds: Int?) {
    #expect(RetryAfter.duration(of: value, now: now) == seconds.map { .seconds($0) })
}

@Test(arguments: [Int64.min, -1, 0, Int64.max])
func `a date is read without a trap at any time`(now: Int64) {
    for value in [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-99 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ] {
        let wait = RetryAfter.duration(of: value, now: now)
        #expect(wait == nil || (.zero...RetryAfter.max).contains(wait ?? .zero))
    }
    _ = ErrorBody(status: 500, message: "x", trackingID: "y", at: now)
}

@Test(
    arguments: [
        (
            "https://ns.servicebus.windows.net/hub/messages/"
                + "73622a22797441e4b434e8c2c14112ce-20181107001834-33331921-18?api-version=2017-04",
            "73622a22797441e4b434e8c2c14112ce-20181107001834-33331921-18"
        ),
        ("https://h/hub/messages/NH-1?api-version=2020-06&direct", "NH-1"),
        ("/hub/messages/a%2Fb/", "a/b"),
        ("https://h/hub/messages/$batch/7?x", "7"),
        ("https://h/hub/messages?api-version=2020-06", nil), ("https://h/hub/Messages/$batch?x", nil),
        ("", nil), ("///", nil), ("https://h/hub/messages/a%0D%0Ab", nil), ("https://h/hub/messages/%zz", nil),
        ("https://h/hub/messages/a b", nil), ("https://h/hub/messages/" + String(repeating: "x", count: 257), nil),
        (String(repeating: "x/", count: 4000), nil),
    ] as [(String, String?)])
func `the notification id is the last segment of the location`(location: String, id: String?) {
    #expect(NotificationID.inLocation(location) == id)
}

@Test(
    arguments: [
        (
            "<Error><Code>404</Code><Detail>"
                + "Installation not found.TrackingId:cc8c4f9b_G3,TimeStamp:11/7/2018 12:18:37 AM</Detail></Error>",
            404, "Installation not found.TrackingId:cc8c4f9b_G3,TimeStamp:11/7/2018 12:18:37 AM"
        ),
        (
            "<?xml version=\"1.0\"?>\n<Error xmlns:i=\"http://x\">\n<Code> 500 </Code>\n"
                + "<Detail i:x=\"y\">\n a &lt;b&gt; &amp;amp; &#65;&#x42; &nope; &\n\tc \n</Detail></Error>",
            500, "a <b> &amp; AB &nope; &  c"
        ),
        ("<Error><Code>400</Code><Detail>cut off in the mid", 400, "cut off in the mid"),
        ("<Error><Code>400</Code><Detail/></Error>", 400, nil),
        ("<Error><Code>400</Code><Detail>  </Detail></Error>", 400, nil),
        ("<Error><Codes>1</Codes><Details>x</Details></Error>", nil, nil),
        ("<Detail", nil, nil), ("<Detail>", nil, nil), ("<Code>99999999999999999999</Code>", nil, nil),
        ("<html><body>Bad gateway</body></html>", nil, nil), ("", nil, nil),
        ("<Detail>&#0;&#x110000;&#xD800;&#1;x</Detail>", nil, "&#x110000;&#xD800; x"),
    ] as [(String, Int?, String?)])
func `an error body is read, whatever it contains`(body: String, code: Int?, detail: String?) {
    let error = ErrorBody(scanning: Array(body.utf8))
    #expect(error.code == code)
    #expect(error.detail == detail)
}

@Test func `a detail is cut between characters`() {
    let body = "<Detail>" + String(repeating: "ü", count: 100_000) + "</Detail>"
    #expect(ErrorBody(scanning: Array(body.utf8)).detail == String(repeating: "ü", count: 256))
    let cluster = "<Detail>a" + String(repeating: "\u{301}", count: 5000) + "</Detail>"
    #expect(ErrorBody(scanning: Array(cluster.utf8)).detail == nil)
}

@Test func `an error body is written as in recordings of the service`() {
    // The time is 11/7/2018 12:18:37 AM.
    let written = ErrorBody(
        status: 404, message: "Installation not found", trackingID: "cc8c4f9b-fd82-4cfa-8f99-7a089eb4cd69_G3",
        at: 1_541_549_917)
    var bytes: [UInt8] = []
    written.write(into: &bytes)
    #expect(
        String(decoding: bytes, as: UTF8.self)
            == "<Error><Code>404</Code><Detail>Installation not found."
            + "TrackingId:cc8c4f9b-fd82-4cfa-8f99-7a089eb4cd69_G3,TimeStamp:11/7/2018 12:18:37 AM</Detail></Error>")
    let read = ErrorBody(scanning: bytes)
    #expect(read == written)
    #expect(read.message == "Installation not found")
    #expect(read.trackingID == "cc8c4f9b-fd82-4cfa-8f99-7a089eb4cd69_G3")
    #expect(
        ErrorBody(status: 401, message: "\(TokenRefusal.invalidSignature)", trackingID: "t", at: 1_593_714_801).detail
            == "InvalidSignature: The token has an invalid signature..TrackingId:t,TimeStamp:7/2/2020 6:33:21 PM")
}

@Test(
    arguments: [
        (
            "Installation not found.TrackingId:t_G3,TimeStamp:x", "Installation not found",
            "Installation not found (tracking id t_G3)"
        ),
        (
            "The token has an invalid signature..TrackingId:t,TimeStamp:x", "The token has an invalid signature",
            "The token has an invalid signature (tracking id t)"
        ),
        ("No id.", "No id", "No id"), (".TrackingId:t,TimeStamp:x", nil, nil), ("", nil, nil),
    ] as [(String, String?, String?)])
func `a reply's message fits into a sentence`(detail: String, message: String?, explanation: String?) {
    let body = Array("<Error><Code>401</Code><Detail>\(detail)</Detail></Error>".utf8)
    let reply = HubReply(status: 401, fields: [], body: body, now: 0)
    #expect(reply.message == message)
    #expect(reply.explanation == explanation)
}

@Test func `the error body is valid XML with any message`() {
    var bytes: [UInt8] = []
    ErrorBody(code: 400, detail: "<a> & \u{0} \u{7}b").write(into: &bytes)
    #expect(
        String(decoding: bytes, as: UTF8.self)
            == "<Error><Code>400</Code><Detail>&lt;a&gt; &amp; \u{FFFD} \u{FFFD}b</Detail></Error>")
}

@Test func `the parts of a whole reply are collected`() {
    let taken = HubReply(
        status: 201,
        fields: [
            HeaderField("LOCATION", "https://h/hub/messages/NH-1?api-version=2020-06"), HeaderField("TrackingId", "t1"),
            HeaderField("trackingid", "t2"),
        ], body: [], now: 0)
    #expect(taken == HubReply(status: 201, notificationID: "NH-1", trackingID: "t1"))
    let refused = HubReply(
        status: 429, fields: [HeaderField("Retry-After", "5")],
        body: Array("<Error><Detail>slow down.TrackingId:t3,TimeStamp:x</Detail></Error>".utf8), now: 0)
    #expect(
        refused
            == HubReply(
                status: 429, retryAfter: .seconds(5), trackingID: "t3", detail: "slow down.TrackingId:t3,TimeStamp:x"))
    #expect(HubReply(status: 403, fields: [HeaderField("Retry-After", "?")], body: [], now: 0).meaning == .forbidden)
}
