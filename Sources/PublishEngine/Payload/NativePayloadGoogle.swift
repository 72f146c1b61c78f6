import NewsModel

extension PayloadContent {
    /// FCM v1: a notification that Android shows by itself, and flat string data for the app.
    ///
    /// The tag makes a repeat replace the notification that is shown. The collapse key does the same to the one that FCM still
    /// keeps for a phone that is off, but FCM keeps four keys per phone and drops the rest: only an event with a story, which
    /// may be updated, gets one.
    func fcmV1(_ json: inout JSONWriter) {
        json.object("message") { json in
            if urgency == .background {
                // Without a notification it is data, which Android hands to the app and does not show.
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
                    // Since Android 8 the channel makes the sound. An app without this one shows it on its own.
                    if urgency == .quiet { json.field("channel_id", "breakingNewsQuiet") }
                }
            }
        }
    }

    /// Google's legacy interface: `{"data":{"message":…},…}`, which the app shows itself; there is no tag, hence always
    /// a collapse key.
    func gcm(_ json: inout JSONWriter) {
        json.object("data") { json in
            json.field("message", message)
            fields(&json)
        }
        json.field("collapse_key", collapseID)
        json.field("time_to_live", timeToLive)
        json.field("priority", urgency == .breaking ? "high" : "normal")
    }
}
