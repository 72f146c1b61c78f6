// Platforms whose payload is one small JSON object.

import NewsModel

extension PayloadContent {
    /// Amazon Device Messaging: string data that the app shows itself.
    func adm(_ json: inout JSONWriter) {
        json.object("data") { json in
            json.field("message", message)
            fields(&json)
        }
        json.field("consolidationKey", collapseID)
        json.field("expiresAfter", timeToLive)
        json.field("priority", urgency == .breaking ? "high" : "normal")
    }

    /// Baidu: a notification, with the fields for the app.
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

    /// Xiaomi: a notification, with the fields for the app.
    func xiaomi(_ json: inout JSONWriter) {
        json.field("title", category)
        json.field("description", message)
        json.object("extra", fields)
    }
}
