import NewsModel
import PublisherService

/// One of the files that make up a page.
struct PageFile {
    /// The page of `newswire run`, of `newswire ingest` or of `newswire telemetry`. They share some files.
    enum Page {
        case publisher, feeds, telemetry
    }

    let type: String
    let bytes: [UInt8]

    /// - Returns: `nil` if the path is not one of the page's files.
    init?(path: String, of page: Page) {
        let bytes =
            switch page {
            case .publisher: Self.publisher(path)
            case .feeds: Self.feeds(path)
            case .telemetry: Self.telemetry(path)
            }
        guard let bytes else { return nil }
        self.bytes = bytes
        type =
            switch path.split(separator: ".").last {
            case "js": "text/javascript; charset=utf-8"
            case "css": "text/css; charset=utf-8"
            default: "text/html; charset=utf-8"
            }
    }

    private static func publisher(_ path: String) -> [UInt8]? {
        switch path {
        case "/": PackageResources.dashboard_html
        case "/dashboard.css": PackageResources.dashboard_css
        case "/dashboard.js": PackageResources.dashboard_js
        case "/charts.js": PackageResources.charts_js
        case "/condition.js": PackageResources.condition_js
        case "/control.js": PackageResources.control_js
        case "/facts.js": facts
        case "/feedrows.js": PackageResources.feedrows_js
        case "/format.js": PackageResources.format_js
        case "/history.js": PackageResources.history_js
        case "/map.js": PackageResources.map_js
        case "/orders.js": PackageResources.orders_js
        case "/tables.js": PackageResources.tables_js
        case "/terms.js": PackageResources.terms_js
        default: nil
        }
    }

    private static func feeds(_ path: String) -> [UInt8]? {
        switch path {
        case "/": PackageResources.feeds_html
        case "/dashboard.css": PackageResources.dashboard_css
        case "/feedrows.js": PackageResources.feedrows_js
        case "/feeds.js": PackageResources.feeds_js
        case "/format.js": PackageResources.format_js
        case "/report.js": PackageResources.report_js
        default: nil
        }
    }

    private static func telemetry(_ path: String) -> [UInt8]? {
        switch path {
        case "/": PackageResources.telemetry_html
        case "/dashboard.css": PackageResources.dashboard_css
        case "/format.js": PackageResources.format_js
        case "/report.js": PackageResources.report_js
        case "/telemetry.js": PackageResources.telemetry_js
        default: nil
        }
    }

    /// A script that exports what the page shows for each outcome and for each code of a reason in `/readyz`.
    private static let facts: [UInt8] =
        script("outcomes") { json in
            for outcome in Outcome.allCases {
                json.name(escaping: outcome.rawValue)
                json.object { json in
                    json.field("kind", outcome.facts.kind.rawValue)
                    json.field("meaning", outcome.facts.meaning)
                }
            }
        }
        + script("reasons") { json in
            for code in ReadinessCode.allCases {
                json.name(escaping: code.rawValue)
                json.object { json in
                    json.field("station", code.words.station.rawValue)
                    json.field("badge", code.words.badge)
                    json.field("headline", code.words.headline)
                    json.field("letsNewsPass", code.letsNewsPass)
                }
            }
        }

    private static func script(_ name: String, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
        Array("export const \(name) = ".utf8) + JSONWriter.object(reserving: 8192, members) + Array(";\n".utf8)
    }
}
