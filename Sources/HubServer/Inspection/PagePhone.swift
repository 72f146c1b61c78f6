import HubEmulator
import NotificationHub

/// One of the four phones on the page. They are the same in every browser; only the hub stores their subscriptions.
struct PagePhone: Sendable {
    let platform: String
    let name: String
    /// The push service that would carry its notifications.
    let service: String
    let installationPlatform: String
    let handle: String
    let channel: JSONTree
    /// The categories of a phone for which no reader has chosen any.
    let categories: [String]
    /// The templates for template sends: with a sound and without one.
    let template: JSONTree
    let quietTemplate: JSONTree

    static let all = [apple, android, windows, browser]
    static let handles = Set(all.map(\.handle))

    var installationID: String { "page-\(platform)" }

    /// The body that registers the phone. The page adds the tags.
    func installation(tags: [String]) -> JSONTree {
        .object([
            .init("installationId", .string(installationID)), .init("platform", .string(installationPlatform)),
            .init("pushChannel", channel), .init("tags", .array(tags.map { .string($0) })),
            .init("templates", templates(in: nil)),
        ])
    }

    /// The templates. Their names are the same in every language, so that a phone has one of each.
    private func templates(in language: PageLanguage?) -> JSONTree {
        func translated(_ template: JSONTree) -> JSONTree { language?.translate(template) ?? template }
        return .object([
            .init("breakingNews", translated(template)), .init("breakingNewsQuiet", translated(quietTemplate)),
        ])
    }

    var json: JSONTree {
        .object([
            .init("platform", .string(platform)), .init("name", .string(name)), .init("service", .string(service)),
            .init("handle", .string(handle)), .init("installation", installation(tags: [])),
            .init("templates", .object(PageLanguage.all.map { .init($0.code, templates(in: $0)) })),
        ])
    }

    /// Registers every phone for its own categories, with the calls that an app makes.
    static func subscribeAll(to hub: inout EmulatedHub, at now: HubTime) {
        guard let rule = hub.settings.rules.first(where: { $0.rights.contains(.listen) }) else { return }
        let token = SharedAccessSignature.token(
            resource: "http://localhost/", keyName: rule.name, key: rule.primaryKey, expiresAt: now.seconds + 60)
        for phone in all {
            let request = HubHTTPRequest(
                method: "PUT",
                target: "/\(hub.settings.name)/installations/\(phone.installationID)?api-version=2020-06",
                headers: ["Host": "localhost", "Authorization": token, "Content-Type": "application/json"],
                body: phone.installation(tags: phone.categories).bytes)
            _ = hub.handle(request, at: now)
        }
    }
}

extension PagePhone {
    private static let apple = PagePhone(
        platform: "apple", name: "iPhone", service: "APNs", installationPlatform: "apns",
        handle: String(repeating: "C0DE", count: 16), channel: .string(String(repeating: "C0DE", count: 16)),
        categories: ["World", "Sports"], template: appleTemplate(#""sound":"default""#),
        quietTemplate: appleTemplate(#""interruption-level":"passive""#))

    private static func appleTemplate(_ sound: String) -> JSONTree {
        body(
            #"{"aps":{"alert":{"title":"$(title)","body":"$(messageParam)"},\#(sound)},"#
                + #""category":"$(category)","id":"$(id)","story":"$(story)"}"#)
    }

    private static let android = PagePhone(
        platform: "fcmv1", name: "Android", service: "FCM v1", installationPlatform: "fcmv1",
        handle: "page-android", channel: .string("page-android"), categories: ["World", "Technology"],
        template: androidTemplate(""), quietTemplate: androidTemplate(#","quiet":"true""#))

    private static func androidTemplate(_ data: String) -> JSONTree {
        body(
            #"{"message":{"notification":{"title":"$(title)","body":"$(messageParam)"},"#
                + #""data":{"category":"$(category)","id":"$(id)","story":"$(story)"\#(data)}}}"#)
    }

    private static let windows = PagePhone(
        platform: "windows", name: "Windows", service: "WNS", installationPlatform: "wns",
        handle: "https://wns.example/?token=page", channel: .string("https://wns.example/?token=page"),
        categories: ["Politics", "Business"], template: windowsTemplate(""),
        quietTemplate: windowsTemplate(#"<audio silent="true"/>"#))

    private static func windowsTemplate(_ audio: String) -> JSONTree {
        body(
            #"<toast launch="$(id)"><visual><binding template="ToastGeneric"><text>$(title)</text>"#
                + "<text>$(messageParam)</text><text>$(category)</text></binding></visual>\(audio)</toast>",
            headers: ["X-WNS-Type": "wns/toast", "X-WNS-Tag": "$(story)"])
    }

    private static let browser = PagePhone(
        platform: "browser", name: "Browser", service: "Web Push", installationPlatform: "browser",
        handle: "https://push.example/page",
        channel: .object([
            .init("endpoint", .string("https://push.example/page")), .init("p256dh", .string("BPage")),
            .init("auth", .string("page")),
        ]), categories: ["World", "Science"], template: browserTemplate(""),
        quietTemplate: browserTemplate(#","quiet":"true""#))

    private static func browserTemplate(_ data: String) -> JSONTree {
        body(
            #"{"title":"$(title)","message":"$(messageParam)","category":"$(category)","id":"$(id)","tag":"$(story)"\#(data)}"#
        )
    }

    private static func body(_ body: String, headers: KeyValuePairs<String, String> = [:]) -> JSONTree {
        .object([
            .init("body", .string(body)),
            .init("headers", .object(headers.map { .init($0.key, .string($0.value)) })),
        ])
    }
}
