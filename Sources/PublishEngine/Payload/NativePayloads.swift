import ByteText
import NewsModel
import NotificationHub

extension PayloadContent {
    /// The body in a platform's format, without a check of its size.
    func body(for platform: Platform, capacity: Int) -> [UInt8] {
        switch platform {
        case .template: JSONWriter.object(reserving: capacity) { template(&$0) }
        case .apple: JSONWriter.object(reserving: capacity) { apple(&$0) }
        case .fcmv1: JSONWriter.object(reserving: capacity) { fcmV1(&$0) }
        case .gcm: JSONWriter.object(reserving: capacity) { gcm(&$0) }
        case .windows: windows(capacity: capacity)
        case .windowsphone: windowsPhone(capacity: capacity)
        case .adm: JSONWriter.object(reserving: capacity) { adm(&$0) }
        case .baidu: JSONWriter.object(reserving: capacity) { baidu(&$0) }
        case .browser: JSONWriter.object(reserving: capacity) { browser(&$0) }
        case .xiaomi: JSONWriter.object(reserving: capacity) { xiaomi(&$0) }
        }
    }

    /// APNs: `{"aps":{"alert":…},…}`. The alert is the message alone, because the settings decide the visible text;
    /// other fields are for the app.
    func apple(_ json: inout JSONWriter) {
        if urgency == .background { return appleBackground(&json) }
        json.object("aps") { json in
            json.field("alert", message)
            if !thread.isEmpty { json.field("thread-id", thread) }
            switch urgency {
            case .breaking:
                json.field("sound", "default")
                json.field("interruption-level", "time-sensitive")
            case .routine, .background: break
            // The notification goes to the notification list, and the screen stays dark.
            case .quiet: json.field("interruption-level", "passive")
            }
            // Lets the app's notification service extension fetch the picture.
            if image != nil { json.field("mutable-content", 1) }
        }
        fields(&json)
    }

    /// A background update wakes the app and shows nothing. With an alert, sound or badge, APNs would show it.
    private func appleBackground(_ json: inout JSONWriter) {
        json.object("aps") { $0.field("content-available", 1) }
        json.field("message", message)
        fields(&json)
    }

    /// FCM v1: a notification that Android shows, and flat string data for the app.
    ///
    /// With the tag, a repeat replaces the visible notification. The collapse key replaces the one that FCM keeps for a
    /// phone that is off. FCM keeps four keys per phone and drops others, so only events with a story, which may be
    /// updated, get one.
    func fcmV1(_ json: inout JSONWriter) {
        json.object("message") { json in
            if urgency == .background {
                // Without a notification object Android hands the data to the app and does not show it.
                json.object("data") { json in
                    json.field("message", message)
                    fields(&json)
                }
            } else {
                json.object("notification") { json in
                    json.field("body", message)
                    json.field("image", image)
                }
                json.object("data", fields)
            }
            json.object("android") { json in
                json.field("ttl", "\(timeToLive)s")
                json.field("priority", urgency == .breaking ? "HIGH" : "NORMAL")
                if story != nil { json.field("collapse_key", collapseID) }
                guard urgency != .background else { return }
                json.object("notification") { json in
                    json.field("tag", collapseID)
                    // Since Android 8 the channel sets the sound. An app without this one uses its own channel.
                    if urgency == .quiet { json.field("channel_id", "breakingNewsQuiet") }
                }
            }
        }
    }

    /// Google's legacy interface: `{"data":{"message":…},…}`, which the app shows. It has no tag, so it always has a
    /// collapse key.
    func gcm(_ json: inout JSONWriter) { data(&json, collapse: "collapse_key", lifetime: "time_to_live") }

    /// Amazon Device Messaging: string data that the app shows itself.
    func adm(_ json: inout JSONWriter) { data(&json, collapse: "consolidationKey", lifetime: "expiresAfter") }

    /// - Parameters:
    ///   - collapse: the member whose value identifies the notification to replace.
    ///   - lifetime: the member with the seconds for which the message is kept.
    private func data(_ json: inout JSONWriter, collapse: StaticString, lifetime: StaticString) {
        json.object("data") { json in
            json.field("message", message)
            fields(&json)
        }
        json.field(collapse, collapseID)
        json.field(lifetime, timeToLive)
        json.field("priority", urgency == .breaking ? "high" : "normal")
    }

    /// Baidu: a notification, with the fields for the app. No member is documented by which one replaces another.
    func baidu(_ json: inout JSONWriter) {
        json.field("title", category)
        json.field("description", message)
        // Flags: 1 it can be wiped away, 2 vibration, 4 sound. The default is all of them.
        if isQuiet { json.field("notification_basic_style", 1) }
        json.object("custom_content", fields)
    }

    /// Web Push: free JSON for our page's service worker, which shows `message` and replaces by `tag`.
    func browser(_ json: inout JSONWriter) {
        json.field("message", message)
        json.field("tag", collapseID)
        fields(&json)
    }

    /// Xiaomi: a notification, with the fields for the app. Xiaomi requires a title and bounds both texts.
    func xiaomi(_ json: inout JSONWriter) {
        let visible = category.isEmpty ? title ?? message : category
        json.field("title", TextCut.cut(visible, to: 50) { _ in 1 })
        json.field("description", message)
        // A notification replaces the one with the same number.
        json.field("notify_id", Int(CollapseID.number(of: orderKey)))
        // Milliseconds.
        json.field("time_to_live", timeToLive * 1_000)
        json.object("extra", fields)
    }

    /// WNS: a toast as in the tutorials, with the picture if there is one. `launch`, which the app gets when the toast
    /// is tapped, has the fields as a JSON object.
    func windows(capacity: Int) -> [UInt8] {
        if urgency == .background { return windowsRaw(capacity: capacity) }
        var body: [UInt8] = []
        body.reserveCapacity(capacity)
        XMLText.append(markup: "<toast launch=\"", to: &body)
        XMLText.append(String(decoding: JSONWriter.object(fields), as: UTF8.self), unwritable: .leftOut, to: &body)
        XMLText.append(markup: "\"><visual><binding template=\"", to: &body)
        if let image {
            XMLText.append(markup: "ToastImageAndText01\"><image id=\"1\" src=\"", to: &body)
            XMLText.append(image, unwritable: .leftOut, to: &body)
            XMLText.append(markup: "\"/>", to: &body)
        } else {
            XMLText.append(markup: "ToastText01\">", to: &body)
        }
        XMLText.append(markup: "<text id=\"1\">", to: &body)
        XMLText.append(message, unwritable: .leftOut, to: &body)
        XMLText.append(markup: "</text></binding></visual>", to: &body)
        if isQuiet { XMLText.append(markup: "<audio silent=\"true\"/>", to: &body) }
        XMLText.append(markup: "</toast>", to: &body)
        return body
    }

    /// A raw notification, which Windows passes unchanged to the app: the fields as a JSON object.
    private func windowsRaw(capacity: Int) -> [UInt8] {
        JSONWriter.object(reserving: capacity) { json in
            json.field("message", message)
            fields(&json)
        }
    }

    /// MPNS: a toast of two texts; the first is bold. It has no place for other fields, because its parameter must name
    /// a page of the app.
    func windowsPhone(capacity: Int) -> [UInt8] {
        var body: [UInt8] = []
        body.reserveCapacity(capacity)
        XMLText.append(markup: "<?xml version=\"1.0\" encoding=\"utf-8\"?>", to: &body)
        XMLText.append(markup: "<wp:Notification xmlns:wp=\"WPNotification\"><wp:Toast><wp:Text1>", to: &body)
        XMLText.append(category, unwritable: .leftOut, to: &body)
        XMLText.append(markup: "</wp:Text1><wp:Text2>", to: &body)
        XMLText.append(message, unwritable: .leftOut, to: &body)
        XMLText.append(markup: "</wp:Text2></wp:Toast></wp:Notification>", to: &body)
        return body
    }
}
