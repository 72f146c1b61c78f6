import ByteText
import Feeds
import NIOCore
import NIOHTTP1

/// The request of a fetch: for a document, or a form for a hub.
enum FetchOrder: Sendable {
    case document(FetchRequest)
    case form(WebSubRequest)

    var url: String {
        switch self {
        case .document(let request): request.url
        case .form(let request): request.url
        }
    }

    func rules(from address: FetchAddress, ports: Set<Int>) -> AddressRules {
        switch self {
        case .document(let request):
            AddressRules(configured: address, allowPrivate: request.allowPrivate, ports: ports)
        case .form(let request):
            AddressRules(
                configured: address, isTrusted: false, allowPrivate: request.allowPrivate,
                ports: request.port.map { ports.union([$0]) } ?? ports)
        }
    }

    /// Returns true if a redirect is followed. A form is posted again only if the status preserves the method.
    func follows(_ status: Int) -> Bool {
        switch self {
        case .document: [301, 302, 303, 307, 308].contains(status)
        case .form: [307, 308].contains(status)
        }
    }

    /// Returns true if the body of an answer is needed. Other bodies are not received.
    func wantsBody(_ status: Int) -> Bool {
        if case .document = self { [200, 226].contains(status) } else { false }
    }

    /// Makes the request of one hop.
    ///
    /// - Parameter sendsHeaders: true if the feed's own headers may be sent to this address.
    /// - Throws: if a configured header cannot be sent. The error never contains its value.
    func message(
        to address: FetchAddress, userAgent: String, sendsHeaders: Bool
    ) throws(FetchFailure) -> (head: HTTPRequestHead, body: ByteBuffer?) {
        var headers: HTTPHeaders = ["Host": address.authority, "User-Agent": userAgent, "Connection": "close"]
        switch self {
        case .form(let request):
            let body = ByteBuffer(
                string: request.form.map { "\($0.name.percentEncoded)=\($0.value.percentEncoded)" }.joined(
                    separator: "&"))
            headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            headers.add(name: "Content-Length", value: "\(body.readableBytes)")
            return (HTTPRequestHead(version: .http1_1, method: .POST, uri: address.target, headers: headers), body)
        case .document(let request):
            headers.add(name: "Accept", value: Self.accepted)
            headers.add(name: "Accept-Encoding", value: "gzip, deflate")
            if let etag = request.validators?.etag, Self.isValue(etag) {
                headers.add(name: "If-None-Match", value: etag)
            }
            if let date = request.validators?.lastModified, Self.isValue(date) {
                headers.add(name: "If-Modified-Since", value: date)
            }
            for field in sendsHeaders ? request.headers : [] {
                guard Self.isName(field.name), Self.isValue(field.value) else {
                    throw FetchFailure(
                        .badAddress, "a header of the feed has characters that cannot be sent; check headers")
                }
                guard !Self.ours.contains(field.name.asciiLowercased) else { continue }
                headers.replaceOrAdd(name: field.name, value: field.value)
            }
            return (HTTPRequestHead(version: .http1_1, method: .GET, uri: address.target, headers: headers), nil)
        }
    }

    private static let accepted =
        "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, application/json;q=0.8, "
        + "text/xml;q=0.7, */*;q=0.1"

    /// Headers that control the framing of a message, which cannot be configured.
    private static let ours: Set<String> = [
        "connection", "content-length", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    private static func isName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }

    private static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
