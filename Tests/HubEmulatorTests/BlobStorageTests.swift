import NotificationHub
import Testing

@testable import HubEmulator

/// Blobs, and the signed addresses that open them.
struct BlobStorageTests: BlobStorageSuite {
    @Test
    func `blobs are put, listed, read in parts and deleted`() throws {
        var (test, container) = try prepared()
        let put = { (test: inout TestNamespace, name: String, headers: HubHeaders) in
            self.storage(&test, "PUT", self.blob(name, in: container), headers: headers, body: "0123456789").status
        }
        #expect(put(&test, "a/b%20c.txt", ["x-ms-blob-type": "BlockBlob"]) == 201)
        #expect(put(&test, "a/b%20c.txt", ["If-None-Match": "*"]) == 409)
        #expect(put(&test, "d", ["x-ms-blob-type": "PageBlob"]) == 400)
        #expect(put(&test, "d", [:]) == 201)
        let list = { (test: inout TestNamespace, query: String) in
            try XMLReader.read(self.storage(&test, "GET", container + "&restype=container&comp=list" + query).body)
        }
        let names = { (list: XMLElement) in list.child("Blobs")?.elements.map { $0.child("Name")?.text } }
        #expect(names(try list(&test, "")) == ["a/b c.txt", "d"])
        #expect(names(try list(&test, "&prefix=a/")) == ["a/b c.txt"])
        let first = try list(&test, "&maxresults=1")
        #expect(names(first) == ["a/b c.txt"] && first.child("NextMarker")?.text == "d")
        #expect(names(try list(&test, "&marker=d")) == ["d"])
        let read = { (test: inout TestNamespace, range: String) in
            self.storage(&test, "GET", self.blob("d", in: container), headers: ["x-ms-range": range])
        }
        let part = read(&test, "bytes=2-4")
        #expect(part.status == 206 && part.text == "234" && part.headers["Content-Range"] == "bytes 2-4/10")
        #expect(read(&test, "bytes=8-").text == "89" && read(&test, "bytes=0-99999999999").text == "0123456789")
        for range in ["bytes=10-", "bytes=4-2", "bytes=-3", "bytes=a-b", "lines=1-2", "bytes=99999999999999999999-"] {
            #expect(read(&test, range).status == 416, "\(range)")
        }
        #expect(storage(&test, "DELETE", blob("d", in: container)).status == 202)
        #expect(storage(&test, "GET", blob("d", in: container)).headers["x-ms-error-code"] == "BlobNotFound")
        #expect(storage(&test, "DELETE", blob("d", in: container)).status == 404)
    }

    @Test
    func `storage refuses unsupported calls in its own form`() throws {
        var (test, container) = try prepared()
        let copied = storage(&test, "PUT", blob("c", in: container), headers: ["x-ms-copy-source": "http://a/b"])
        #expect(copied.status == 501 && copied.headers["x-ms-error-code"] == "NotImplemented", "\(copied.text)")
        for name in ["%00", "a%0d%0ab", "%c2%85", "%ef%bf%bf"] {
            let reply = storage(&test, "PUT", blob(name, in: container), body: "x")
            #expect(reply.status == 400 && reply.headers["x-ms-error-code"] == "InvalidResourceName", "\(name)")
        }
        #expect(test.namespace.blobs.all.isEmpty)
        let listing = container + "&restype=container&comp=list&prefix="
        for (url, code) in [
            (listing + "%ff", "InvalidUri"), (blob("%ff", in: container), "InvalidUri"),
            (listing + "%00", "InvalidQueryParameterValue"),
        ] {
            let reply = storage(&test, "GET", url)
            #expect(reply.status == 400 && reply.headers["x-ms-error-code"] == code, "\(url): \(reply.text)")
        }
        // Below other paths the answer has the hub's form.
        #expect(test.call("GET", "/BreakingNews/registrations?a=%ff").headers["x-ms-error-code"] == nil)
    }

    @Test
    func `a signed address opens only what it names, until it expires`() throws {
        var (test, container) = try prepared()
        let key = test.namespace.storageKey
        let expires = test.now.advanced(byMilliseconds: 1000)
        _ = storage(&test, "PUT", blob("a", in: container), body: "x")
        _ = storage(&test, "PUT", blob("b", in: container), body: "x")
        let grant = { (blob: String?, permissions: String) in
            StorageGrant(container: "jobs", blob: blob, permissions: permissions, expires: expires)
                .url(base: "http://news.example", key: key)
        }
        let status = { (test: inout TestNamespace, method: String, url: String) in
            self.storage(&test, method, url).status
        }
        let one = grant("a", "r")
        #expect(status(&test, "GET", one) == 200)
        for (method, url) in [
            ("GET", one.replacing("/a?", with: "/b?")), ("PUT", one), ("DELETE", one),
            ("GET", one.replacing("sp=r", with: "sp=rw")), ("GET", one.replacing("sr=b", with: "sr=c")),
            ("GET", one.replacing("2027", with: "2099")), ("GET", String(one.prefix { $0 != "?" })),
            ("GET", one.replacing("sig=", with: "sig=A")),
            ("GET", grant(nil, "w") + "&restype=container&comp=list"),
        ] {
            #expect(status(&test, method, url) == 403, "\(method) \(url)")
        }
        test.now = expires
        #expect(status(&test, "GET", one) == 403)
    }

    @Test
    func `storage is bounded in blobs, bytes and names`() throws {
        var store = BlobStore()
        let put = { (store: inout BlobStore, name: String, bytes: [UInt8]) in
            store.put(bytes, contentType: "", as: name, at: TestHub.start)
        }
        let whole = [UInt8](repeating: 0, count: BlobStore.blobLengthMax)
        #expect(!put(&store, "a", whole + [0]))
        for name in ["a", "b", "c", "d"] { #expect(put(&store, name, whole)) }
        #expect(!put(&store, "e", [0]))
        #expect(put(&store, "a", []))
        #expect(put(&store, "e", [0]))
        #expect(!put(&store, String(repeating: "x", count: 1025), []))
        for number in 0..<BlobStore.countMax { _ = put(&store, "n\(number)", []) }
        #expect(store.all.count == BlobStore.countMax)
        for (name, _) in store.all { store.remove(name) }
        #expect(put(&store, "a", whole))
    }

    @Test
    func `only an address that permits writing allows a body longer than a send`() throws {
        var (test, container) = try prepared()
        let length = { (method: String, url: String) in
            test.namespace.bodyLengthMax(
                of: HubHTTPRequest(method: method, target: String(url.dropFirst("http://news.example".count))),
                at: test.now)
        }
        #expect(length("PUT", blob("a", in: container)) == BlobStore.blobLengthMax)
        #expect(length("POST", blob("a", in: container)) == SendRequest.bodyLengthMax)
        #expect(length("PUT", blob("a", in: container).replacing("sp=rc", with: "sp=r")) == SendRequest.bodyLengthMax)
        #expect(length("PUT", "http://news.example/BreakingNews") == SendRequest.bodyLengthMax)
    }
}
