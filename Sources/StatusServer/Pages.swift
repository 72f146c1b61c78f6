import HTTPServing
import NewsModel
import NotificationHub
import PublisherService

/// The pages of `newswire run`, of `newswire ingest` and of `newswire telemetry`. They share some files.
extension PageFiles {
    static let publisher = PageFiles([
        "/": PackageResources.dashboard_html,
        "/dashboard.css": PackageResources.dashboard_css,
        "/dashboard.js": PackageResources.dashboard_js,
        "/desk.js": PackageResources.desk_js,
        "/charts.js": PackageResources.charts_js,
        "/condition.js": PackageResources.condition_js,
        "/control.js": PackageResources.control_js,
        "/facts.js": facts,
        "/feedrows.js": PackageResources.feedrows_js,
        "/format.js": PackageResources.format_js,
        "/history.js": PackageResources.history_js,
        "/map.js": PackageResources.map_js,
        "/orders.js": PackageResources.orders_js,
        "/tables.js": PackageResources.tables_js,
        "/terms.js": PackageResources.terms_js,
    ])

    static let feeds = PageFiles([
        "/": PackageResources.feeds_html,
        "/dashboard.css": PackageResources.dashboard_css,
        "/feedrows.js": PackageResources.feedrows_js,
        "/feeds.js": PackageResources.feeds_js,
        "/format.js": PackageResources.format_js,
        "/report.js": PackageResources.report_js,
    ])

    static let telemetry = PageFiles([
        "/": PackageResources.telemetry_html,
        "/dashboard.css": PackageResources.dashboard_css,
        "/facts.js": facts,
        "/format.js": PackageResources.format_js,
        "/report.js": PackageResources.report_js,
        "/telemetry.js": PackageResources.telemetry_js,
    ])

    /// A script that exports what the pages show for each outcome, for each code of a reason in `/readyz`, and for each
    /// platform in the hub's words.
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
        + script("platforms") { json in
            for platform in Platform.native { json.field(named: platform.facts.installation, platform.facts.name) }
            // An older name of `gcm`.
            json.field(named: "fcm", Platform.gcm.facts.name)
        }

    private static func script(_ name: String, _ members: (inout JSONWriter) -> Void) -> [UInt8] {
        Array("export const \(name) = ".utf8) + JSONWriter.object(reserving: 8192, members) + Array(";\n".utf8)
    }
}
