import Foundation
import HTTPServing
import HubEmulator
import HubServer
import NotificationHub
import TestSupport
import Testing

private let python = Python(with: "azure.storage.blob")

/// Tests Azure's own storage client against the emulated storage account.
@Suite(
    .enabled(if: python != nil, "needs azure-storage-blob of deploy/test-requirements.txt (in NEWSWIRE_TEST_PYTHON)"))
struct StorageClientTests {
    private static let program = """
        import re, sys, urllib.request
        from azure.core.exceptions import ResourceExistsError, ResourceNotFoundError, HttpResponseError
        from azure.storage.blob import BlobClient, ContainerClient

        url, jobs, token = sys.argv[1:]
        container = ContainerClient.from_container_url(url)
        assert container.exists()
        try: container.create_container(); raise SystemExit("made twice")
        except ResourceExistsError: pass

        line = ('<AppleRegistrationDescription xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">'
                '<Tags>World</Tags><DeviceToken>%s</DeviceToken></AppleRegistrationDescription>')
        lines = [line % "AA", "nonsense", line % "BB"]
        blob = container.upload_blob("Import.txt", "\\n".join(lines).encode())
        try: container.upload_blob("Import.txt", b""); raise SystemExit("overwritten")
        except ResourceExistsError: pass
        assert blob.get_blob_properties().size == len("\\n".join(lines))
        assert blob.download_blob(offset=1, length=5).readall() == b"Apple"
        container.upload_blob("empty", b"")
        assert container.download_blob("empty").readall() == b""
        big = bytes(range(256)) * 40_000
        container.upload_blob("big", big)
        assert container.download_blob("big").readall() == big

        def call(method, url, body=None):
            request = urllib.request.Request(url, body, {"Authorization": token}, method=method)
            return urllib.request.urlopen(request).read().decode()

        entry = ('<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><NotificationHubJob '
                 'xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect">'
                 '<Type>ImportCreateRegistrations</Type><OutputContainerUri><![CDATA[%s]]></OutputContainerUri>'
                 '<ImportFileUri><![CDATA[%s]]></ImportFileUri></NotificationHubJob></content></entry>')
        made = call("POST", jobs, (entry % (url, url.replace("?", "/Import.txt?", 1))).encode())
        job = re.search("<JobId>(.*)</JobId>", made)[1]
        for _ in range(10_000):
            read = call("GET", jobs.replace("?", "/" + job + "?"))
            if "<Status>Completed<" in read: break
        paths = re.findall("<d3p1:Value>/(.*?)</d3p1:Value>", read)
        output, failed = [container.download_blob(path).readall().decode() for path in paths]
        assert [row.split(",")[0] for row in output.splitlines()] == ["1", "3"], output
        assert [row.split(",")[0] for row in failed.splitlines()] == ["2"], failed
        assert sorted(blob.name for blob in container.list_blobs()) == sorted(["Import.txt", "big", "empty"] + paths)
        assert [blob.name for blob in container.list_blobs(name_starts_with="Imp")] == ["Import.txt"]

        container.delete_blob("big")
        try: container.download_blob("big"); raise SystemExit("still there")
        except ResourceNotFoundError: pass
        wrong = BlobClient.from_blob_url(url.replace("?", "/Import.txt?", 1).replace("sp=rcwdl", "sp=rcwdlx"))
        try: wrong.download_blob(); raise SystemExit("opened")
        except HttpResponseError as error: assert error.status_code == 403, error

        feedback = ContainerClient.from_container_url(call("GET", jobs.replace("/jobs?", "/feedbackcontainer?")))
        days = list(feedback.list_blobs())
        assert len(days) == 1 and re.fullmatch("[0-9]{8}", days[0].name), days
        assert b"ExpiredChannel" in feedback.download_blob(days[0].name).readall()
        """

    @Test
    func `Azure's client puts, lists, reads and deletes blobs, and a job reads and writes them`() async throws {
        try await withVectorHub { hub in
            let base = "http://127.0.0.1:\(hub.port)"
            let put = try await RawClient.call(
                hub.port, "PUT", "/_emulator/devices/DD", body: #"{"outcome":"ExpiredChannel"}"#)
            #expect(put.status == 204)
            let watched = try #require(hub.deliveries(to: ["DD"]))
            let sent = try await RawClient.call(
                hub.port, "POST", "/BreakingNews/messages?direct&api-version=2020-06",
                headers: [
                    try token(hub), ("ServiceBusNotification-Format", "apple"), ("Content-Type", "application/json"),
                    ("ServiceBusNotification-DeviceHandle", "DD"),
                ], body: "{}")
            #expect(sent.status == 201)
            for await _ in watched { break }
            let status = try await #require(python).run(
                Self.program,
                arguments: [
                    hub.jobsContainerURL, "\(base)/BreakingNews/jobs?api-version=2017-04", try token(hub).1,
                ]
            ).status
            #expect(status == 0)
            #expect(hub.registrationCount == 2)
            let told = try await RawClient.call(hub.port, "GET", "/_emulator/storage")
            #expect(told.text.contains("/_storage/jobs?"))
        }
    }

    @Test
    func `a body for an address without the right to write is limited to the size of a send`() async throws {
        try await withVectorHub { hub in
            let body = String(repeating: "x", count: 100_000)
            let target = String(hub.jobsContainerURL.dropFirst("http://127.0.0.1:\(hub.port)".count))
            let blob = target.replacing("?", with: "/a?", maxReplacements: 1)
            let wrong = try await RawClient.call(hub.port, "PUT", blob.replacing("sig=", with: "sig=A"), body: body)
            #expect(wrong.status == 403)
            let right = try await RawClient.call(hub.port, "PUT", blob, body: body)
            #expect(right.status == 201)
        }
    }
}

/// Uploads that are too large or too slow.
struct UploadTests {
    private static func target(_ hub: RunningHub) -> String {
        String(hub.jobsContainerURL.dropFirst("http://127.0.0.1:\(hub.port)".count))
            .replacing("?", with: "/a?", maxReplacements: 1)
    }

    @Test
    func `uploads beyond the common limit are asked to retry, as by a storage account`() async throws {
        try await withVectorHub({ $0.uploads.bytesMax = 100_000 }) { hub in
            let body = String(repeating: "x", count: 90_000)
            for _ in 0..<2 {
                #expect(try await RawClient.call(hub.port, "PUT", Self.target(hub), body: body).status == 201)
                let refused = try await RawClient.call(hub.port, "PUT", Self.target(hub), body: body + body)
                #expect(refused.status == 503 && refused.text.contains("<Code>ServerBusy</Code>"))
                #expect(refused.headers["retry-after"] == "10" && refused.headers["x-ms-request-id"] != nil)
            }
        }
    }

    /// Formerly the deadline grew with the received bytes, so that 31 MB could stay in memory for half a day.
    @Test(.timeLimit(.minutes(15)))
    func `an upload that stalls shortly before its end loses its connection`() async throws {
        try await withVectorHub({ $0.uploads.period = .milliseconds(200) }) { hub in
            let head = "PUT \(Self.target(hub)) HTTP/1.1\r\nHost: a\r\nContent-Length: 1000100\r\n\r\n"
            let bytes = Array(head.utf8) + [UInt8](repeating: 120, count: 1_000_000)
            let answer = try await RawClient.exchange(hub.port, bytes)
            #expect(answer.isEmpty)
        }
    }
}
