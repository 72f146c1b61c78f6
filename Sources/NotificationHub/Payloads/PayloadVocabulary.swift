import ByteText

/// The members that push services read in a payload, as their documentation had them in November 2026.
package enum PayloadVocabulary {
    /// Everything in a JSON body that its platform ignores or refuses. The body may be a part of one: nothing is reported as
    /// missing.
    package static func findings(in body: JSONTree, for platform: Platform) -> [PayloadFinding] {
        switch platform {
        case .apple:
            var inspection = PayloadInspection("iOS")
            guard case .object(let members) = body else { return [] }
            for member in members {
                if member.name == "aps" {
                    inspection.inspect(member.value, as: aps, at: ["aps"])
                } else if outsideAps.contains(member.name) {
                    inspection.report(.ignored, [member.name], "is read by iOS only inside aps")
                }
            }
            return inspection.findings
        case .fcmv1: return fcm(body, isStrict: false)
        case .browser:
            var inspection = PayloadInspection("the browser")
            guard case .object(let members) = body else { return [] }
            for member in members {
                // A payload is free JSON for the app's service worker, which passes members with these names on.
                if let known = webNotification[member.name] {
                    inspection.inspect(member.value, as: known, at: [member.name])
                } else if member.name == "notification" {
                    inspection.inspect(member.value, as: .object(webNotification), at: ["notification"])
                }
            }
            return inspection.findings
        default: return []
        }
    }

    /// True for the names in `data` for which FCM v1 refuses a message.
    package static func isReservedByGoogle(_ name: String) -> Bool {
        name == "from" || name == "message_type" || name.hasPrefix("google.") || name.hasPrefix("gcm.")
    }

    /// - Parameter isStrict: true to leave out what FCM only ignores, as for a request that a server receives.
    package static func fcm(_ body: JSONTree, isStrict: Bool) -> [PayloadFinding] {
        var inspection = PayloadInspection("FCM", isProtobuf: true)
        inspection.inspect(
            body, as: .object(["message": .object(fcmMessage), "validate_only": .flag]), at: [])
        return inspection.findings.filter { !isStrict || $0.kind != .ignored }
    }

    // MARK: APNs

    private static let outsideAps: Set = [
        "alert", "badge", "content-available", "interruption-level", "mutable-content", "relevance-score", "sound",
        "thread-id",
    ]

    private static let aps = PayloadMember.object([
        "alert": .either(
            .text,
            .object([
                "title": .text, "subtitle": .text, "body": .text, "launch-image": .text, "title-loc-key": .text,
                "title-loc-args": .list(.text), "subtitle-loc-key": .text, "subtitle-loc-args": .list(.text),
                "loc-key": .text, "loc-args": .list(.text), "action": .text, "action-loc-key": .text,
                "summary-arg": .text, "summary-arg-count": .whole,
            ])),
        "badge": .whole, "sound": .either(.text, .object(["critical": .whole, "name": .text, "volume": .number])),
        "thread-id": .text, "category": .text, "content-available": .whole, "mutable-content": .whole,
        "target-content-id": .text, "interruption-level": .word(["passive", "active", "time-sensitive", "critical"]),
        "relevance-score": .number, "filter-criteria": .text, "url-args": .list(.text), "stale-date": .whole,
        "content-state": .anything, "timestamp": .whole, "event": .text, "dismissal-date": .whole,
        "attributes-type": .text, "attributes": .anything,
    ])

    // MARK: FCM v1

    private static let fcmMessage: [String: PayloadMember] = [
        "name": .text, "data": .texts, "android": .object(android), "apns": .object(fcmAPNS),
        "notification": .object(["title": .text, "body": .text, "image": .text]),
        "webpush": .object([
            "headers": .texts, "data": .texts, "notification": .anything,
            "fcm_options": .object(["link": .text, "analytics_label": .text]),
        ]),
        "fcm_options": .object(["analytics_label": .text]), "token": .text, "topic": .text, "condition": .text,
    ]

    private static let fcmAPNS: [String: PayloadMember] = [
        "headers": .texts, "payload": .anything, "fcm_options": .object(["analytics_label": .text, "image": .text]),
        "live_activity_token": .text,
    ]

    private static let android: [String: PayloadMember] = [
        "collapse_key": .text, "priority": .word(["NORMAL", "HIGH"]), "ttl": .duration,
        "restricted_package_name": .text, "data": .texts, "notification": .object(androidNotification),
        "fcm_options": .object(["analytics_label": .text]), "direct_boot_ok": .flag,
        "bandwidth_constrained_ok": .flag, "restricted_satellite_ok": .flag,
    ]

    private static let androidNotification: [String: PayloadMember] = [
        "title": .text, "body": .text, "icon": .text, "color": .text, "sound": .text, "tag": .text,
        "click_action": .text, "body_loc_key": .text, "body_loc_args": .list(.text), "title_loc_key": .text,
        "title_loc_args": .list(.text), "channel_id": .text, "ticker": .text, "sticky": .flag, "event_time": .text,
        "local_only": .flag,
        "notification_priority": .word([
            "PRIORITY_UNSPECIFIED", "PRIORITY_MIN", "PRIORITY_LOW", "PRIORITY_DEFAULT", "PRIORITY_HIGH",
            "PRIORITY_MAX",
        ]),
        "default_sound": .flag, "default_vibrate_timings": .flag, "default_light_settings": .flag,
        "vibrate_timings": .list(.duration),
        "visibility": .word(["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"]),
        "notification_count": .whole, "image": .text, "bypass_proxy_notification": .flag,
        "light_settings": .object([
            "color": .object(["red": .number, "green": .number, "blue": .number, "alpha": .anything]),
            "light_on_duration": .duration, "light_off_duration": .duration,
        ]),
        "proxy": .word(["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"]),
    ]

    // MARK: Web Push

    /// The options of the Notifications API. `title` and `navigate` are those of declarative Web Push.
    private static let webNotification: [String: PayloadMember] = [
        "title": .text, "body": .text, "icon": .text, "badge": .text, "image": .text, "tag": .text, "lang": .text,
        "dir": .word(["auto", "ltr", "rtl"]), "renotify": .flag, "requireInteraction": .flag, "silent": .flag,
        "vibrate": .list(.whole), "timestamp": .whole, "navigate": .text, "mutable": .flag, "app_badge": .anything,
        "data": .anything,
        "actions": .list(.object(["action": .text, "title": .text, "icon": .text, "navigate": .text])),
    ]
}
