import HubEmulator

/// The subscriber's phones in a browser: one page, its style and its scripts, all inside the binary.
enum Page {
    /// `nil` for a request that is not for the page.
    static func reply(to request: HubHTTPRequest) -> HubHTTPResponse? {
        guard request.method == "GET" else { return nil }
        let path = request.target.prefix { $0 != "?" }
        let (type, text): (String, String)
        switch path {
        case "/": (type, text) = ("text/html; charset=utf-8", pageMarkup)
        case "/page.css": (type, text) = ("text/css; charset=utf-8", pageStyle)
        case "/page.js": (type, text) = ("text/javascript; charset=utf-8", pageScript)
        case "/phone.js": (type, text) = ("text/javascript; charset=utf-8", pagePhoneScript)
        case "/hub.js": (type, text) = ("text/javascript; charset=utf-8", pageHubScript)
        case "/favicon.ico": return HubHTTPResponse(status: 204)
        default: return nil
        }
        return HubHTTPResponse(
            status: 200,
            headers: [
                "Content-Type": type, "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
            ], body: Array(text.utf8))
    }
}
