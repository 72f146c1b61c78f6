import ByteText
import NotificationHub

/// The emulated Azure storage account. It supports the calls that hubs and their clients need: Put, Get, Delete and
/// List Blobs with a signed address.
extension EmulatedNamespace {
    /// The container for clients' import files and jobs' output. It always exists.
    static let jobsContainer = "jobs"

    /// True for a request for a blob or a container.
    public static func isStorage(_ target: String) -> Bool { StorageAddress.isMeant(by: target) }

    /// The longest body that `handle` accepts, in bytes. Only a permitted upload or batch can be longer than usual.
    public mutating func bodyLengthMax(of request: HubHTTPRequest, at now: HubTime) -> Int {
        guard let target = RequestTarget(request.target) else { return SendRequest.bodyLengthMax }
        guard let address = StorageAddress(target) else {
            guard let hub = target.segments.first.flatMap({ index(of: $0) }) else { return SendRequest.bodyLengthMax }
            return hubs[hub].bodyLengthMax(of: request, target, at: now)
        }
        guard request.method == "PUT", (try? grant(address, needs: "wc", at: now)) != nil else {
            return SendRequest.bodyLengthMax
        }
        return BlobStore.blobLengthMax
    }

    /// True for a request whose body may be longer than usual if its caller is authorised.
    public static func mayBeLong(_ request: HubHTTPRequest) -> Bool {
        if isStorage(request.target) { return true }
        guard request.method == "POST", let target = RequestTarget(request.target) else { return false }
        return HubCall(target.segments.dropFirst()) == .batch
    }

    /// The address of the container for jobs. It permits reading, writing, deleting and listing.
    public func jobsContainerURL(base: String, until expires: HubTime) -> String {
        StorageGrant(container: Self.jobsContainer, permissions: "rcwdl", expires: expires)
            .url(base: base, key: storageKey)
    }

    /// - Parameter address: `nil` if it is malformed.
    mutating func answer(_ address: StorageAddress?, _ request: HubHTTPRequest, at now: HubTime) -> HubHTTPResponse {
        var reply: HubHTTPResponse
        do throws(StorageProblem) {
            guard let address else {
                throw StorageProblem(400, "InvalidUri", "The requested URI does not represent any resource.")
            }
            reply = try respond(address, request, at: now)
        } catch {
            reply = error.reply
        }
        return complete(reply, request)
    }

    /// The answer to a request that the server cannot serve now, in the form of a hub or a storage account.
    /// - Parameter retryAfter: in seconds.
    public mutating func unavailable(
        _ request: HubHTTPRequest, _ message: String, retryAfter: Int64, at now: HubTime
    ) -> HubHTTPResponse {
        guard RequestTarget(request.target).flatMap(StorageAddress.init) != nil else {
            return itself.reply(Refusal(status: 503, message: message, retryAfter: retryAfter), at: now)
        }
        var reply = StorageProblem(503, "ServerBusy", message).reply
        reply.headers.append("Retry-After", String(retryAfter))
        return complete(reply, request)
    }

    /// Adds the headers that every answer of a storage account has.
    private mutating func complete(_ reply: HubHTTPResponse, _ request: HubHTTPRequest) -> HubHTTPResponse {
        var reply = reply
        reply.headers.append("x-ms-request-id", itself.trackingID())
        reply.headers.append("x-ms-version", request.headers["x-ms-version"] ?? "2021-08-06")
        if let id = request.headers["x-ms-client-request-id"] { reply.headers.append("x-ms-client-request-id", id) }
        return reply
    }

    private mutating func respond(
        _ address: StorageAddress, _ request: HubHTTPRequest, at now: HubTime
    ) throws(StorageProblem) -> HubHTTPResponse {
        guard let blob = address.blob else { return try container(address, request, at: now) }
        switch request.method {
        case "PUT": return try put(blob, address, request, at: now)
        case "GET", "HEAD":
            try grant(address, needs: "r", at: now)
            guard let found = find(blob, in: address.container) else { throw .blobNotFound }
            return try Self.read(found, request)
        case "DELETE":
            try grant(address, needs: "d", at: now)
            guard find(blob, in: address.container) != nil else { throw .blobNotFound }
            blobs.remove(blob)
            return HubHTTPResponse(status: 202)
        default: throw StorageProblem(405, "UnsupportedHttpVerb", "The resource doesn't support this method.")
        }
    }

    /// - Parameter needs: letters; the grant must have at least one of them.
    @discardableResult
    private func grant(_ address: StorageAddress, needs: String, at now: HubTime) throws(StorageProblem)
        -> StorageGrant
    {
        guard let grant = StorageGrant(address, key: storageKey, at: now) else { throw .authenticationFailed }
        guard grant.permissions.contains(where: { needs.contains($0) }) else {
            throw StorageProblem(403, "AuthorizationPermissionMismatch", "The signed address does not allow this.")
        }
        return grant
    }

    private func find(_ name: String, in container: String?) -> BlobStore.Blob? {
        if container == Self.jobsContainer { return blobs[name] }
        return hubs.first { $0.feedbackContainer == container }?.feedbackBlob(name)
    }

    // MARK: Containers

    private func container(
        _ address: StorageAddress, _ request: HubHTTPRequest, at now: HubTime
    ) throws(StorageProblem) -> HubHTTPResponse {
        guard address.query["restype"] == "container", let name = address.container else {
            throw StorageProblem(400, "InvalidQueryParameterValue", "A container is named with restype=container.")
        }
        try grant(address, needs: request.method == "PUT" ? "cw" : "rl", at: now)
        var listed: [(name: String, blob: BlobStore.Blob)]
        if name == Self.jobsContainer {
            listed = blobs.all
        } else if let hub = hubs.first(where: { $0.feedbackContainer == name }) {
            listed = hub.feedback
        } else {
            throw StorageProblem(404, "ContainerNotFound", "The specified container does not exist.")
        }
        switch (request.method, address.query["comp"]) {
        case ("PUT", nil):
            throw StorageProblem(409, "ContainerAlreadyExists", "The specified container already exists.")
        case ("GET", "list"): break
        case ("GET", nil), ("HEAD", nil):
            let newest = listed.map(\.blob.modified).max() ?? HubTime(milliseconds: 0)
            return HubHTTPResponse(
                status: 200,
                headers: ["ETag": "\"0x0\"", "Last-Modified": newest.rfc1123, "x-ms-lease-state": "available"])
        default: throw StorageProblem(400, "InvalidQueryParameterValue", "Only comp=list is offered.")
        }
        let prefix = address.query["prefix"] ?? ""
        guard BlobStore.accepts(prefix) else {
            throw StorageProblem(400, "InvalidQueryParameterValue", "The prefix has control characters.")
        }
        listed = listed.filter { $0.name.hasPrefix(prefix) }
        if let marker = address.query["marker"] { listed = listed.filter { $0.name >= marker } }
        let limit = min(max(1, address.query["maxresults"].flatMap { Int($0) } ?? 5000), 5000)
        var out = "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults "
        out += "ServiceEndpoint=\"\(XMLText.escaped(request.base))/\(StorageGrant.root)/\" "
        out += "ContainerName=\"\(XMLText.escaped(name))\">"
        if !prefix.isEmpty { out += "<Prefix>\(XMLText.escaped(prefix, in: .content))</Prefix>" }
        out += "<Blobs>"
        for (name, blob) in listed.prefix(limit) {
            out += "<Blob><Name>\(XMLText.escaped(name, in: .content))</Name><Properties>"
            out += "<Last-Modified>\(blob.modified.rfc1123)</Last-Modified><Etag>\(blob.etag)</Etag>"
            out += "<Content-Length>\(blob.bytes.count)</Content-Length>"
            out += "<Content-Type>\(XMLText.escaped(blob.contentType, in: .content))</Content-Type>"
            out += "<BlobType>BlockBlob</BlobType><LeaseStatus>unlocked</LeaseStatus>"
            out += "<LeaseState>available</LeaseState></Properties></Blob>"
        }
        let next = listed.dropFirst(limit).first.map { XMLText.escaped($0.name, in: .content) }
        out += "</Blobs>" + (next.map { "<NextMarker>\($0)</NextMarker>" } ?? "<NextMarker/>") + "</EnumerationResults>"
        return HubHTTPResponse(status: 200, headers: ["Content-Type": "application/xml"], body: Array(out.utf8))
    }

    // MARK: Blobs

    private mutating func put(
        _ name: String, _ address: StorageAddress, _ request: HubHTTPRequest, at now: HubTime
    ) throws(StorageProblem) -> HubHTTPResponse {
        try grant(address, needs: "wc", at: now)
        guard address.container == Self.jobsContainer else {
            throw StorageProblem(403, "AuthorizationPermissionMismatch", "This container is for reading.")
        }
        guard address.query["comp"] == nil,
            (request.headers["x-ms-blob-type"] ?? "BlockBlob").equalsIgnoringASCIICase("BlockBlob")
        else {
            throw StorageProblem(400, "UnsupportedHeader", "Only whole block blobs are offered; upload in one piece.")
        }
        guard request.headers["x-ms-copy-source"] == nil else {
            throw StorageProblem(501, "NotImplemented", "Blobs are not copied; upload the content.")
        }
        guard BlobStore.accepts(name) else {
            throw StorageProblem(400, "InvalidResourceName", "The name of a blob has no control characters.")
        }
        guard !request.bodyIsTooLong else {
            throw StorageProblem(413, "RequestBodyTooLarge", "A blob has at most \(BlobStore.blobLengthMax) bytes.")
        }
        guard blobs[name] == nil || request.headers["If-None-Match"]?.trimmed != "*" else {
            throw StorageProblem(409, "BlobAlreadyExists", "The specified blob already exists.")
        }
        let type = request.headers["x-ms-blob-content-type"] ?? request.headers["Content-Type"]
        guard blobs.put(request.body, contentType: type ?? "application/octet-stream", as: name, at: now),
            let blob = blobs[name]
        else {
            throw StorageProblem(
                403, "AccountQuotaExceeded",
                "The emulator holds \(BlobStore.countMax) blobs and "
                    + "\(BlobStore.bytesMax) bytes at most; delete some.")
        }
        return HubHTTPResponse(
            status: 201,
            headers: [
                "ETag": blob.etag, "Last-Modified": now.rfc1123, "x-ms-request-server-encrypted": "false",
            ])
    }

    private static func read(_ blob: BlobStore.Blob, _ request: HubHTTPRequest) throws(StorageProblem)
        -> HubHTTPResponse
    {
        var headers: HubHeaders = [
            "Content-Type": blob.contentType, "ETag": blob.etag, "Last-Modified": blob.modified.rfc1123,
            "x-ms-blob-type": "BlockBlob", "Accept-Ranges": "bytes", "x-ms-creation-time": blob.modified.rfc1123,
            "x-ms-lease-state": "available", "x-ms-lease-status": "unlocked", "x-ms-server-encrypted": "false",
            // A page stored as a blob must not act as the emulator's own.
            "Content-Security-Policy": "sandbox", "X-Content-Type-Options": "nosniff",
        ]
        guard let range = (request.headers["x-ms-range"] ?? request.headers["Range"]), request.method == "GET" else {
            return HubHTTPResponse(status: 200, headers: headers, body: blob.bytes)
        }
        guard let wanted = byteRange(range, of: blob.bytes.count) else {
            throw StorageProblem(416, "InvalidRange", "The range is invalid for the size of the blob.")
        }
        headers.append("Content-Range", "bytes \(wanted.lowerBound)-\(wanted.upperBound - 1)/\(blob.bytes.count)")
        return HubHTTPResponse(status: 206, headers: headers, body: Array(blob.bytes[wanted]))
    }

    /// Parses `bytes=0-99` or `bytes=100-`; `nil` for any other form, and for a range that begins after the end.
    private static func byteRange(_ text: String, of count: Int) -> Range<Int>? {
        guard text.hasPrefix("bytes=") else { return nil }
        let ends = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = Int(ends[0]), first >= 0, first < count else { return nil }
        guard !ends[1].isEmpty else { return first..<count }
        guard let last = Int(ends[1]), last >= first else { return nil }
        return first..<min(last, count - 1) + 1
    }
}

/// An error in the form of a storage account.
struct StorageProblem: Error {
    static let authenticationFailed = StorageProblem(
        403, "AuthenticationFailed", "The signature of the address is wrong, or its time has passed.")
    static let blobNotFound = StorageProblem(404, "BlobNotFound", "The specified blob does not exist.")

    var status: Int
    var code: String
    var message: String

    init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    fileprivate var reply: HubHTTPResponse {
        let body =
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>\(code)</Code><Message>\(message)</Message></Error>"
        return HubHTTPResponse(
            status: status, headers: ["Content-Type": "application/xml", "x-ms-error-code": code],
            body: Array(body.utf8))
    }
}

extension BlobStore.Blob {
    fileprivate var etag: String { "\"0x\(UInt64(truncatingIfNeeded: version).hexDigits)\"" }
}
