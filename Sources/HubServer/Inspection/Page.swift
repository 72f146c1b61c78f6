import HubEmulator

/// The page with the subscribers' phones: one document, its style and its scripts, all inside the binary.
enum Page {
    /// - Returns: `nil` for a request that is not for the page.
    static func reply(to request: HubHTTPRequest) -> HubHTTPResponse? {
        guard ["GET", "HEAD"].contains(request.method) else { return nil }
        let path = request.target.prefix { $0 != "?" }
        let (type, bytes): (String, [UInt8])
        switch path {
        case "/": (type, bytes) = ("text/html; charset=utf-8", PackageResources.page_html)
        case "/page.css": (type, bytes) = ("text/css; charset=utf-8", PackageResources.page_css)
        case "/page.js": (type, bytes) = ("text/javascript; charset=utf-8", PackageResources.page_js)
        case "/phone.js": (type, bytes) = ("text/javascript; charset=utf-8", PackageResources.phone_js)
        case "/hub.js": (type, bytes) = ("text/javascript; charset=utf-8", PackageResources.hub_js)
        case "/favicon.ico": return HubHTTPResponse(status: 204)
        default: return nil
        }
        return HubHTTPResponse(
            status: 200,
            headers: [
                "Content-Type": type, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
            ], body: bytes)
    }
}
