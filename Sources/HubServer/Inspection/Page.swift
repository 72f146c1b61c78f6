import ByteText
import HTTPServing
import HubEmulator
import NotificationHub

/// The page with the subscribers' phones: a document, its style and its scripts, all embedded in the binary.
enum Page {
    private static let files = PageFiles([
        "/": PackageResources.page_html, "/page.css": PackageResources.page_css,
        "/phones.css": PackageResources.phones_css, "/page.js": PackageResources.page_js,
        "/news.js": PackageResources.news_js, "/phone.js": PackageResources.phone_js,
        "/payload.js": PackageResources.payload_js, "/composer.js": PackageResources.composer_js,
        "/panels.js": PackageResources.panels_js, "/hub.js": PackageResources.hub_js,
    ])

    /// - Parameter isAdmitted: true if the caller may see the hub's key.
    /// - Returns: `nil` if the request is not for the page.
    static func reply(
        to request: HubHTTPRequest, _ inspection: Inspection, isAdmitted: @autoclosure () -> Bool
    ) -> HubHTTPResponse? {
        guard ["GET", "HEAD"].contains(request.method) else { return nil }
        let path = request.target.prefix { $0 != "?" }
        if path == "/favicon.ico" { return HubHTTPResponse(status: 204) }
        guard let (type, bytes) = files[path] else { return nil }
        let isDocument = path == "/"
        return HubHTTPResponse(
            status: 200,
            headers: [
                // The document may contain a different key each time.
                "Content-Type": type, "Cache-Control": isDocument ? "no-store" : "no-cache",
                "X-Content-Type-Options": "nosniff",
                "Content-Security-Policy": "default-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
            ], body: isDocument ? document(for: request, inspection, isAdmitted: isAdmitted()) : bytes)
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
