import NotificationHub
import Testing

@testable import HubEmulator

/// The feedback about dead handles, and the errors of single sends.
struct FeedbackTests: BlobStorageSuite {
    @Test
    func `dead handles are in their day's feedback, and all errors in the send's details`() throws {
        var (test, _) = try prepared()
        _ = test.call(
            "PUT", "/BreakingNews/installations/i", body: #"{"platform":"gcm","pushChannel":"g&1","tags":["World"]}"#)
        test.namespace.withFirst {
            $0.setOutcome(.expiredChannel, handle: "g&1")
            $0.setOutcome(.wrongToken, handle: "AB")
        }
        let ids = try ["gcm", "apple"].map { format in
            let sent = test.call(
                "POST", "/BreakingNews/messages?api-version=2020-06",
                headers: ["ServiceBusNotification-Format": format, "Content-Type": "application/json"], body: "{}")
            return try #require(sent.headers["Location"].flatMap { NotificationID.inLocation($0) })
        }
        _ = test.namespace.deliver(limit: 100, at: test.now)
        let reply = test.call("GET", "/BreakingNews/feedbackcontainer?api-version=2015-01")
        let container = reply.text
        #expect(reply.status == 200 && container.hasPrefix("http://news.example/_storage/"))
        let listed = try XMLReader.read(storage(&test, "GET", container + "&restype=container&comp=list").body)
        #expect(listed.child("Blobs")?.elements.map { $0.child("Name")?.text } == ["01152027"])
        let day = storage(&test, "GET", blob("01152027", in: container)).text
        let lines = day.split(separator: "\r\n")
        #expect(lines.count == 1)
        let feedback = try XMLReader.read(Array((lines.first ?? "").utf8))
        #expect(
            feedback.elements.map { "\($0.localName)=\($0.text)" } == [
                "FeedbackTime=2027-01-15T08:00:00.0000000Z", "NotificationSystemError=ExpiredChannel", "Platform=gcm",
                "PnsHandle=g&1", "RegistrationId=\(RegistrationID(of: "i", template: nil))", "InstallationId=i",
                "NotificationId=\(ids[0])",
            ])
        let details = { (test: inout TestNamespace, version: String) in
            try XMLReader.read(test.call("GET", "/BreakingNews/messages/\(ids[1])?api-version=\(version)").body)
                .child("PnsErrorDetailsUri")?.text
        }
        #expect(try details(&test, "2015-04") == nil)
        let uri = try #require(try details(&test, "2016-07"))
        let errors = storage(&test, "GET", uri).text.split(separator: "\r\n")
        #expect(errors.count == 1 && errors.allSatisfy { $0.contains("WrongToken") })
        // A feedback container is read-only.
        #expect(storage(&test, "PUT", blob("x", in: container), body: "x").status == 403)
    }
}
