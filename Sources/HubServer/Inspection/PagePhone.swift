import HubEmulator
import NotificationHub

/// One of the four phones on the page. They are the same in every browser; only the hub stores their subscriptions.
struct PagePhone: Sendable {
    let name: String
    /// The push service that would carry its notifications.
    let service: String
    let channel: PushChannel
    /// The categories of a phone for which no reader has chosen any.
    let categories: [String]
    /// The templates for template sends: with a sound and without one. Their names are the same in every language, so
    /// that a phone has one of each.
    let templates: [PushTemplate]

    static let all = [apple, android, windows, browser]
    static let handles = Set(all.map(\.handle))

    var platform: String { channel.platform.rawValue }
    var handle: String { channel.handle }

    /// - Parameter template: the body of one template; true for the one without a sound.
    private init(
        _ name: String, _ service: String, _ channel: PushChannel, _ categories: [String], headers: [HeaderField] = [],
        template: (Bool) -> String
    ) {
        (self.name, self.service, self.channel, self.categories) = (name, service, channel, categories)
        templates = [("breakingNews", false), ("breakingNewsQuiet", true)].map { name, isQuiet in
            PushTemplate(name: name, body: template(isQuiet), headers: headers)
        }
    }

    /// The body that registers the phone.
    private func installation(tags: [String] = [], in language: PageLanguage? = nil) -> InstallationBody {
        InstallationBody(
            id: "page-\(platform)", channel: channel, tags: tags.compactMap { try? Tag($0) },
            templates: templates.map { language?.translate($0) ?? $0 })
    }

    /// The values with which the page registers the phone. The page adds the tags.
    var json: JSONTree {
        let translated = PageLanguage.all.map { language in
            JSONTree.Member(language.code, installation(in: language).json["templates"] ?? .null)
        }
        return [
            "platform": .string(platform), "name": .string(name), "service": .string(service),
            "handle": .string(handle), "installation": installation().json, "templates": .object(translated),
        ]
    }

    /// Registers every phone for its own categories, with the calls that an app makes.
    static func subscribeAll(to hub: inout EmulatedHub, at now: HubTime) {
        guard let rule = hub.settings.rules.first(where: { $0.rights.contains(.listen) }) else { return }
        let token = SharedAccessSignature.token(
            resource: "http://localhost/", keyName: rule.name, key: rule.primaryKey, expiresAt: now.seconds + 60)
        for phone in all {
            let body = phone.installation(tags: phone.categories)
            let request = HubHTTPRequest(
                method: "PUT", target: "/\(hub.settings.name)/installations/\(body.id)?api-version=2020-06",
                headers: ["Host": "localhost", "Authorization": token, "Content-Type": "application/json"],
                body: body.bytes)
            _ = hub.handle(request, at: now)
        }
    }

    private static let apple = PagePhone(
        "iPhone", "APNs", .apple(deviceToken: String(repeating: "C0DE", count: 16)), ["World", "Sports"]
    ) { isQuiet in
        let sound = isQuiet ? #""interruption-level":"passive""# : #""sound":"default""#
        return #"{"aps":{"alert":{"title":"$(title)","body":"$(messageParam)"},\#(sound)},"#
            + #""category":"$(category)","id":"$(id)","story":"$(story)"}"#
    }

    private static let android = PagePhone(
        "Android", "FCM v1", .fcmv1(registrationToken: "page-android"), ["World", "Technology"]
    ) { isQuiet in
        #"{"message":{"notification":{"title":"$(title)","body":"$(messageParam)"},"#
            + #""data":{"category":"$(category)","id":"$(id)","story":"$(story)"\#(isQuiet ? quiet : "")}}}"#
    }

    private static let windows = PagePhone(
        "Windows", "WNS", .windows(channelURI: "https://wns.example/?token=page"), ["Politics", "Business"],
        headers: [HeaderField("X-WNS-Type", "wns/toast"), HeaderField("X-WNS-Tag", "$(shortTag:{news})")]
    ) { isQuiet in
        #"<toast launch="$(id)"><visual><binding template="ToastGeneric"><text>$(title)</text>"#
            + "<text>$(messageParam)</text><text>$(category)</text></binding></visual>"
            + (isQuiet ? #"<audio silent="true"/></toast>"# : "</toast>")
    }

    private static let browser = PagePhone(
        "Browser", "Web Push", .browser(endpoint: "https://push.example/page", p256dh: "BPage", auth: "page"),
        ["World", "Science"]
    ) { isQuiet in
        #"{"title":"$(title)","message":"$(messageParam)","category":"$(category)","id":"$(id)","#
            + #""tag":"$(story)"\#(isQuiet ? quiet : "")}"#
    }

    private static let quiet = #","quiet":"true""#
}
