import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

struct TelemetryTests {
    private func id(_ reply: HubHTTPResponse) throws -> String {
        try #require(reply.headers["Location"].flatMap { NotificationID.inLocation($0) })
    }

    @Test
    func `telemetry counts outcomes by platform`() throws {
        var test = try TestHub()
        for token in ["AA", "BB", "CC"] {
            let inner = "<Tags>Sports</Tags><DeviceToken>\(token)</DeviceToken>"
            _ = test.call("POST", "/registrations", body: WireTable.entry("Apple", inner))
        }
        test.hub.setOutcome(.wrongToken, handle: "CC")
        let id = try id(test.send(#"{"aps":{"alert":"a < b"}}"#, format: "apple", tags: "Sports"))
        let early = try XMLReader.read(test.call("GET", "/messages/\(id)?api-version=2016-07").body)
        #expect(early.child("State")?.text == "Enqueued")
        _ = test.hub.deliver(limit: 100, at: test.now)
        let reply = test.call("GET", "/messages/\(id)?api-version=2016-07", rule: "SendOnly")
        #expect(reply.status == 200 && reply.headers["Content-Type"] == "application/xml; charset=utf-8")
        let details = try XMLReader.read(reply.body)
        #expect(
            details.elements.map(\.localName) == [
                "NotificationId", "Location", "State", "EnqueueTime", "StartTime", "EndTime", "NotificationBody",
                "Tags",
                "TargetPlatforms", "ApnsOutcomeCounts", "PnsErrorDetailsUri",
            ])
        #expect(details.child("State")?.text == "Completed")
        #expect(details.child("NotificationBody")?.text == #"{"aps":{"alert":"a < b"}}"#)
        #expect(details.child("TargetPlatforms")?.text == "apple")
        let counts = details.child("ApnsOutcomeCounts")?.elements.map { $0.elements.map(\.text) }
        #expect(counts == [["Success", "2"], ["WrongToken", "1"]])
        #expect(test.call("GET", "/messages/nobody-1-2-3").status == 404)
    }

    @Test
    func `telemetry becomes visible step by step, and for some sends never`() throws {
        var test = try TestHub {
            $0.telemetry.hiddenMilliseconds = 10_000
            $0.telemetry.enqueuedMilliseconds = 5_000
            $0.telemetry.processingMilliseconds = 20_000
        }
        for token in 10..<20 {
            _ = test.call(
                "POST", "/registrations",
                body: WireTable.entry("Apple", "<Tags>Sports</Tags><DeviceToken>\(token)</DeviceToken>"))
        }
        let id = try id(test.send(#"{"aps":{}}"#, format: "apple", tags: "Sports"))
        _ = test.hub.deliver(limit: 100, at: test.now)
        let start = test.now
        var told: [String] = []
        for second in [0, 9, 10, 14, 15, 25, 34, 35, 3_600] as [Int64] {
            test.now = start.advanced(byMilliseconds: second * 1_000)
            let reply = test.call("GET", "/messages/\(id)?api-version=2016-07")
            guard reply.status == 200 else {
                told.append("\(reply.status)")
                continue
            }
            let details = try XMLReader.read(reply.body)
            let count = details.child("ApnsOutcomeCounts")?.elements.first?.child("Count")?.text
            told.append("\(details.child("State")?.text ?? "") \(count ?? "-")")
        }
        #expect(
            told == [
                "404", "404", "Enqueued -", "Enqueued -", "Processing -", "Processing 5", "Processing 9",
                "Completed 10",
                "Completed 10",
            ])
        var forgetful = try TestHub { $0.telemetry.missingMillionths = 250_000 }
        let ids = try (0..<200).map { _ in try self.id(forgetful.send(#"{"aps":{}}"#, format: "apple")) }
        let missing = ids.filter { forgetful.call("GET", "/messages/\($0)").status == 404 }
        #expect((25...80).contains(missing.count))
        #expect(ids.filter { forgetful.call("GET", "/messages/\($0)").status == 404 } == missing)
    }

    @Test
    func `a telemetry fault does not affect sends`() throws {
        var test = try TestHub()
        let id = try id(test.send(#"{"aps":{}}"#, format: "apple"))
        var fault = HubFault()
        (fault.status, fault.retryAfter, fault.calls) = (429, 7, .telemetry)
        test.hub.add(fault)
        #expect(test.send(#"{"aps":{}}"#, format: "apple").status == 201)
        let reply = test.call("GET", "/messages/\(id)")
        #expect(reply.status == 429 && reply.headers["Retry-After"] == "7")
        #expect(test.call("GET", "/registrations").status == 200)
    }

    @Test
    func `telemetry and schedules need the Standard tier, batches at least Basic`() throws {
        var test = try TestHub { $0.tier = .free }
        #expect(test.call("GET", "/messages/a-1-1-1").status == 403)
        #expect(test.call("POST", "/schedulednotifications").status == 403)
        #expect(test.call("POST", "/messages/$batch?direct").status == 403)
    }

    @Test
    func `a scheduled send waits for its time and can be canceled`() throws {
        var test = try TestHub()
        _ = test.call("POST", "/registrations", body: WireTable.entry("Apple", "<DeviceToken>AA</DeviceToken>"))
        let schedule = { (test: inout TestHub, time: String) in
            test.call(
                "POST", "/schedulednotifications?api-version=2020-06",
                headers: [
                    "ServiceBusNotification-Format": "apple", "Content-Type": "application/json",
                    "ServiceBusNotification-ScheduleTime": time,
                ], body: "{}")
        }
        let first = schedule(&test, "2027-01-15T09:00:00")
        let second = schedule(&test, "2027-01-15T09:00:00.000Z")
        #expect(first.status == 201 && second.status == 201)
        #expect(first.headers["Location"]?.contains("/schedulednotifications/") == true)
        #expect(test.hub.deliver(limit: 10, at: test.now).isEmpty)
        let state = { (test: inout TestHub, id: String) in
            try XMLReader.read(test.call("GET", "/messages/\(id)").body).child("State")?.text
        }
        #expect(try state(&test, id(first)) == "Scheduled")
        #expect(test.call("DELETE", "/schedulednotifications/\(try id(second))").status == 200)
        #expect(test.call("DELETE", "/schedulednotifications/\(try id(second))").status == 404)
        #expect(try state(&test, id(second)) == "Canceled")
        let due = HubTime(seconds: TestHub.start.seconds + 3600)
        #expect(test.hub.wakeAt == due)
        #expect(test.hub.deliver(limit: 10, at: due).map(\.messageID) == [try id(first)])
        #expect(test.hub.wakeAt == nil)
        for time in ["2027-01-15T08:04:00", "2027-01-22T08:00:01", "soon", ""] {
            #expect(schedule(&test, time).status == 400)
        }
    }

    @Test
    func `a test send reports the outcome of ten devices`() throws {
        var test = try TestHub()
        for index in 10..<30 {
            _ = test.call(
                "POST", "/registrations", body: WireTable.entry("Apple", "<DeviceToken>\(index)</DeviceToken>"))
        }
        let reply = test.send(#"{"aps":{}}"#, format: "apple", tags: nil, query: "?test&api-version=2020-06")
        #expect(reply.status == 201)
        let outcome = try XMLReader.read(reply.body)
        #expect(outcome.child("Success")?.text == "10" && outcome.child("Failure")?.text == "0")
        #expect(outcome.child("Results")?.elements.count == 10)
        #expect(Set(outcome.child("Results")?.elements.compactMap { $0.child("PnsHandle")?.text } ?? []).count == 10)
        let statuses = (1...10).map { _ in test.send(#"{"aps":{}}"#, format: "apple", query: "?test").status }
        #expect(statuses.last == 403)
    }

    private static func batch(
        _ boundary: String = "nh-batch-multipart-boundary", payload: String = #"{"aps":{}}"#,
        handles: String = #"["AA","BB"]"#
    ) -> String {
        "--\(boundary)\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=notification\r\n\r\n"
            + "\(payload)\r\n--\(boundary)\r\nContent-Type: application/json\r\nContent-Disposition: inline; name=devices"
            + "\r\n\r\n\(handles)\r\n--\(boundary)--\r\n"
    }

    private static let batches: [(String, String, Int)] = [
        ("multipart/mixed; boundary=\"nh-batch-multipart-boundary\"", batch(), 201),
        ("multipart/mixed; boundary = \"nh-boundary-1\"", batch("nh-boundary-1"), 201),
        ("multipart/form-data; boundary=b", batch("b"), 201),
        ("multipart/mixed; boundary=b", batch("b", handles: "['AA']"), 201),
        ("multipart/mixed; boundary=b", batch("b", handles: "[]"), 400),
        ("multipart/mixed; boundary=b", batch("c"), 400),
        ("application/json", batch(), 400), ("multipart/mixed; boundary=b", "", 400),
        (
            "multipart/mixed; boundary=b",
            batch("b", handles: "[" + (1...1001).map { "\"\($0)\"" }.joined(separator: ",") + "]"), 400
        ),
    ]

    @Test(arguments: batches)
    func `batches are read as clients write them`(contentType: String, body: String, status: Int) throws {
        var test = try TestHub()
        let reply = test.call(
            "POST", "/messages/$batch?direct&api-version=2020-06",
            headers: ["ServiceBusNotification-Format": "apple", "Content-Type": contentType], body: body)
        #expect(reply.status == status, "\(reply.text)")
        guard status == 201 else { return }
        let delivered = test.hub.deliver(limit: 10, at: test.now)
        #expect(delivered.allSatisfy { $0.body == Array("{\"aps\":{}}".utf8) })
        #expect(delivered.map(\.handle) == test.hub.received[1]?.handles)
    }

    private static let thousand = (0..<1000).map { index in
        let digits = String(index, radix: 16)
        return "\"" + String(repeating: "0", count: 64 - digits.count) + digits + "\""
    }

    private static let sizes: [(payload: Int, handles: [String], status: Int)] = [
        (100, thousand, 201), (65_536, thousand, 201), (65_537, ["\"AA\""], 413),
        (100, thousand + ["\"AA\""], 400),
        (65_536, thousand.map { _ in "\"\(String(repeating: "A", count: 2000))\"" }, 413),
    ]

    @Test(arguments: sizes)
    func `a batch's limit of 64 KB applies to its payload`(payload: Int, handles: [String], status: Int) throws {
        var test = try TestHub()
        let frame = #"{"aps":{"alert":""}}"#
        let text = String(repeating: "x", count: payload - frame.utf8.count)
        let body = Self.batch(
            payload: #"{"aps":{"alert":"\#(text)"}}"#, handles: "[" + handles.joined(separator: ",") + "]")
        let reply = test.call(
            "POST", "/messages/$batch?direct&api-version=2020-06",
            headers: [
                "ServiceBusNotification-Format": "apple",
                "Content-Type": "multipart/mixed; boundary=\"nh-batch-multipart-boundary\"",
            ], body: body)
        #expect(reply.status == status, "\(reply.text)")
        #expect(test.hub.deliver(limit: 2000, at: test.now).count == (status == 201 ? 1000 : 0))
    }

    @Test
    func `sends that wait for their devices are bounded by bytes`() throws {
        var test = try TestHub { $0.pendingBytesMax = 100_000 }
        let body = #"{"a":"\#(String(repeating: "x", count: 60_000))"}"#
        #expect((1...3).map { _ in test.send(body).status } == [201, 201, 503])
        _ = test.hub.deliver(limit: 10, at: test.now)
        #expect(test.send(body).status == 201)
    }
}
