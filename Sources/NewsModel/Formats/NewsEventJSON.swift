extension NewsEvent {
    /// Appends the event as one `news-event` document (`schemas/news-event.schema.json`); absent values are left out.
    ///
    /// Reads back as an equal event when it is within `EventLimits`.
    public func encode(into bytes: inout [UInt8]) {
        JSONWriter.write(into: &bytes) { json in
            json.object { json in encode(fieldsInto: &json) }
        }
    }

    private func encode(fieldsInto json: inout JSONWriter) {
        json.field("id", id)
        json.field("headline", headline)
        if !categories.isEmpty { json.array("categories", of: categories) }
        if !subjects.isEmpty { json.array("subjects", of: subjects) }
        json.field("summary", summary)
        json.field("language", language)
        json.field("urgency", urgency)
        json.field("story", story)
        json.field("version", version?.text)
        if status != .usable { json.field("status", status.rawValue) }
        json.field("publishedAt", publishedAt)
        json.field("expiresAt", expiresAt)
        json.field("embargoUntil", embargoUntil)
        json.field("link", link)
        json.field("image", image)
        json.field("environment", environment)
        if isTest { json.field("test", true) }
        if !users.isEmpty { json.array("users", of: users) }
        if !interests.isEmpty { json.array("interests", of: interests) }
        if !data.isEmpty {
            json.object("data") { json in
                for field in data { json.field(named: field.name, field.value) }
            }
        }
        guard !headlines.isEmpty else { return }
        json.object("headlines") { json in
            for headline in headlines { json.field(named: headline.language, headline.text) }
        }
    }
}
