import ByteText
import HubEmulator
import NotificationHub

/// The page with the subscribers' phones: a document, its style and its scripts, all embedded in the binary.
enum Page {
    private static let html = "text/html; charset=utf-8"
    private static let style = "text/css; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"

    /// - Parameter isAdmitted: true if the caller may see the hub's key.
    /// - Returns: `nil` if the request is not for the page.
    static func reply(
        to request: HubHTTPRequest, _ inspection: Inspection, isAdmitted: @autoclosure () -> Bool
    ) -> HubHTTPResponse? {
        guard ["GET", "HEAD"].contains(request.method) else { return nil }
        let (type, bytes): (String, [UInt8])
        switch request.target.prefix(while: { $0 != "?" }) {
        case "/": (type, bytes) = (html, document(for: request, inspection, isAdmitted: isAdmitted()))
        case "/page.css": (type, bytes) = (style, PackageResources.page_css)
        case "/phones.css": (type, bytes) = (style, PackageResources.phones_css)
        case "/page.js": (type, bytes) = (script, PackageResources.page_js)
        case "/news.js": (type, bytes) = (script, PackageResources.news_js)
        case "/phone.js": (type, bytes) = (script, PackageResources.phone_js)
        case "/payload.js": (type, bytes) = (script, PackageResources.payload_js)
        case "/composer.js": (type, bytes) = (script, PackageResources.composer_js)
        case "/panels.js": (type, bytes) = (script, PackageResources.panels_js)
        case "/hub.js": (type, bytes) = (script, PackageResources.hub_js)
        case "/favicon.ico": return HubHTTPResponse(status: 204)
        default: return nil
        }
        return HubHTTPResponse(
            status: 200,
            headers: [
                // The document may contain a different key each time.
                "Content-Type": type, "Cache-Control": type == html ? "no-store" : "no-cache",
                "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
            ], body: bytes)
    }

    /// The document. Readers without JavaScript see the connection string and the next command.
    private static func document(
        for request: HubHTTPRequest, _ inspection: Inspection, isAdmitted: Bool
    ) -> [UInt8] {
        let hub = inspection.hub.settings.name.text
        let refusal = "shown only to a browser on the hub's own machine"
        let connection = isAdmitted ? connectionString(for: request, inspection.rule) : nil
        let next =
            inspection.publish == nil
            ? ("Send news to it", "NEWSWIRE_HUB_CONNECTION_STRING='%' newswire run --config newswire.yaml")
            : (
                "A fifth phone, in a terminal",
                "newswire device --hub \(hub) --categories World --connection-string '%'"
            )
        let dashboard = isAdmitted ? inspection.dashboard() : nil
        let values = [
            "hub": hub, "connection": connection ?? refusal, "nextTitle": next.0,
            "next": connection.map { next.1.replacing("%", with: $0) } ?? refusal,
            "dashboard": dashboard ?? "", "dashboardHidden": dashboard == nil ? "hidden" : "",
        ]
        // The search continues after a value, so that a value cannot contain further names.
        var rest = String(decoding: PackageResources.page_html, as: UTF8.self)[...]
        var text = ""
        while let start = rest.firstRange(of: "{{"), let end = rest[start.upperBound...].firstRange(of: "}}") {
            text += rest[..<start.lowerBound]
            text += XMLText.escaped(values[String(rest[start.upperBound..<end.lowerBound])] ?? "")
            rest = rest[end.upperBound...]
        }
        return Array((text + rest).utf8)
    }

    /// The connection string with the request's host, because the browser may use another name or port than the hub.
    private static func connectionString(for request: HubHTTPRequest, _ rule: AccessRule?) -> String? {
        let scheme = request.isSecure ? "https" : "http"
        guard let rule, let endpoint = try? HubEndpoint(parsing: "\(scheme)://\(request.headers["Host"] ?? "")/") else {
            return nil
        }
        return ConnectionString(endpoint: endpoint, keyName: rule.name, key: rule.primaryKey).revealed
    }
}
