import NewsModel

extension PayloadContent {
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
