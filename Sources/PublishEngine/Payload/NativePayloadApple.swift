import NewsModel

extension PayloadContent {
    /// APNs: `{"aps":{"alert":…},…}`. The alert is the message alone, because the settings decide the visible text;
    /// other fields are for the app.
    func apple(_ json: inout JSONWriter) {
        if urgency == .background { return appleBackground(&json) }
        json.object("aps") { json in
            json.field("alert", message)
            if !category.isEmpty { json.field("thread-id", category) }
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
}
