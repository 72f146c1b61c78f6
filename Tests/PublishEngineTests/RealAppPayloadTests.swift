import NewsModel
import NotificationHub
import Testing

@testable import PublishEngine

/// Payloads that public apps and SDKs document, written in `payload.native`: the Guardian's app (the tests of
/// github.com/guardian/mobile-n10n) and the SDK of Adobe Campaign ("Understanding push notifications payload structure").
struct RealAppPayloadTests {
    private static let event: NewsEvent = {
        var event = NewsEvent(id: "068b3d2b-dc9d-482b-a1c9-bd0f5dd8ebd7", headline: "President says killers were known")
        event.urgency = 1
        event.story = "normandy"
        event.link = "https://www.theguardian.com/world/2016/jul/26/normandy"
        event.image = "https://media.guim.co.uk/6338/500.jpg"
        event.data = [
            .init(name: "kicker", value: "The Guardian"), .init(name: "item", value: "world/2016/jul/26/normandy"),
            .init(name: "topics", value: "breaking/uk,breaking/us"), .init(name: "delivery", value: "56c4"),
        ]
        return event
    }()

    private func tree(_ platform: Platform, _ body: String, _ classes: [UrgencyClass: String] = [:]) throws -> JSONTree?
    {
        let settings = NativeSamples.settings(platform, body, classes)
        #expect(settings.problems.isEmpty && settings.warnings.isEmpty, "\(settings.problems) \(settings.warnings)")
        return JSONTree(parsing: Array(try NativeSamples.body(Self.event, platform, body, classes).utf8))
    }

    @Test func `the Guardian's payload for iOS`() throws {
        let body = """
            {"t": "m",
             "aps": {"alert": {"body": "{{headline}}", "title": "{{data.kicker}}"}, "sound": "default",
                     "category": "ITEM_CATEGORY", "mutable-content": 1},
             "provider": "Guardian", "topics": "{{data.topics}}", "uriType": "item", "imageUrl": "{{image}}",
             "link": "https://mobile.guardianapis.com/items/{{data.item}}", "notificationType": "news", "uri": "{{link}}",
             "uniqueIdentifier": "{{id}}"}
            """
        let expected = """
            {"t": "m",
             "aps": {"alert": {"body": "President says killers were known", "title": "The Guardian"}, "sound": "default",
                     "category": "ITEM_CATEGORY", "mutable-content": 1},
             "provider": "Guardian", "topics": "breaking/uk,breaking/us", "uriType": "item",
             "imageUrl": "https://media.guim.co.uk/6338/500.jpg",
             "link": "https://mobile.guardianapis.com/items/world/2016/jul/26/normandy", "notificationType": "news",
             "uri": "https://www.theguardian.com/world/2016/jul/26/normandy",
             "uniqueIdentifier": "068b3d2b-dc9d-482b-a1c9-bd0f5dd8ebd7"}
            """
        #expect(try tree(.apple, body) == JSONTree(parsing: Array(expected.utf8)))
        // Without a title and an image their members are missing, as in the app's own tests.
        var bare = Self.event
        (bare.image, bare.data) = (nil, bare.data.filter { $0.name != "kicker" })
        let lacking = try #require(JSONTree(parsing: Array(try NativeSamples.body(bare, .apple, body).utf8)))
        #expect(lacking["imageUrl"] == nil && lacking["aps"]?["alert"]?["title"] == nil)
    }

    @Test func `the Guardian's data for Android`() throws {
        let body = """
            {"message": {"data": {"notificationType": "news", "type": "custom", "title": "{{data.kicker}}",
             "ticker": "{{headline}}", "message": "{{headline}}", "topics": "{{data.topics}}",
             "link": "x-gu://www.guardian.co.uk/{{data.item}}", "uriType": "item", "uri": "x-gu:///items/{{data.item}}",
             "imageUrl": "{{image}}", "thumbnailUrl": "{{image}}"}}}
            """
        let expected = """
            {"message": {"data": {"notificationType": "news", "type": "custom", "title": "The Guardian",
             "ticker": "President says killers were known", "message": "President says killers were known",
             "topics": "breaking/uk,breaking/us", "link": "x-gu://www.guardian.co.uk/world/2016/jul/26/normandy",
             "uriType": "item", "uri": "x-gu:///items/world/2016/jul/26/normandy",
             "imageUrl": "https://media.guim.co.uk/6338/500.jpg", "thumbnailUrl": "https://media.guim.co.uk/6338/500.jpg"},
             "android": {"priority": "HIGH", "ttl": "3600s", "collapse_key": "normandy"}}}
            """
        #expect(try tree(.fcmv1, body) == JSONTree(parsing: Array(expected.utf8)))
    }

    @Test func `Adobe Campaign's payload for iOS`() throws {
        let body = """
            {"aps": {"alert": {"body": "{{headline}}", "title": "{{category}}"}, "category": "NEWS_CATEGORY", "badge": 2,
             "mutable-content": 1, "sound": "default"}, "custom_field1": "{{data.topics}}",
             "media-attachment-url": "{{image}}", "uri": "{{link}}", "_dId": "{{data.delivery}}", "_mId": "h138a"}
            """
        let expected = """
            {"aps": {"alert": {"body": "President says killers were known", "title": "World"},
             "category": "NEWS_CATEGORY", "badge": 2, "mutable-content": 1, "sound": "default"},
             "custom_field1": "breaking/uk,breaking/us", "media-attachment-url": "https://media.guim.co.uk/6338/500.jpg",
             "uri": "https://www.theguardian.com/world/2016/jul/26/normandy", "_dId": "56c4", "_mId": "h138a"}
            """
        #expect(try tree(.apple, body) == JSONTree(parsing: Array(expected.utf8)))
    }

    @Test func `Adobe Campaign's data for Android, with a channel of its own in breaking news`() throws {
        let body = """
            {"message": {"notification": {"title": "{{category}}", "body": "{{headline}}"},
             "android": {"notification": {"channel_id": "news-{{categorySlug}}", "click_action": "OPEN", "tag": "{{collapseId}}"}},
             "data": {"_msg": "{{headline}}", "title": "{{category}}", "uri": "{{link}}", "media-attachment-url": "{{image}}",
             "_dId": "{{data.delivery}}", "_mId": "h138a"}}}
            """
        let breaking = #"{"message": {"android": {"notification": {"channel_id": "breaking", "sound": "alarm"}}}}"#
        let expected = """
            {"message": {"notification": {"title": "World", "body": "President says killers were known"},
             "android": {"notification": {"channel_id": "breaking", "click_action": "OPEN", "tag": "normandy", "sound": "alarm"},
             "priority": "HIGH", "ttl": "3600s", "collapse_key": "normandy"},
             "data": {"_msg": "President says killers were known", "title": "World",
             "uri": "https://www.theguardian.com/world/2016/jul/26/normandy",
             "media-attachment-url": "https://media.guim.co.uk/6338/500.jpg", "_dId": "56c4", "_mId": "h138a"}}}
            """
        #expect(try tree(.fcmv1, body, [.breaking: breaking]) == JSONTree(parsing: Array(expected.utf8)))
    }
}
