import Foundation
import NotificationHub
import Testing

@Test func `the article on NotificationHub shows the code of this file`() throws {
    let (shown, compiled) = try Article.code(
        of: "Sources/NotificationHub/NotificationHub.docc/NotificationHub.md",
        and: "Tests/ArticleTests/NotificationHubArticle.swift")
    #expect(!shown.isEmpty)
    #expect(shown == compiled)
}

// snippet
/// Returns the parts of one send for an HTTP client.
func newsRequest(_ connection: ConnectionString, hub: HubName, now: Int64) throws -> (URL, [HeaderField], [UInt8]) {
    let send = SendRequest(
        format: .template, tags: try TagExpression(parsing: "World || Politics").description,
        body: Array(#"{"messageParam":"Breaking World News : It rains"}"#.utf8))
    // Keep the token: it renews itself, and one token serves all calls.
    var token = AccessToken(connection)
    let fields = [
        HeaderField("Authorization", token.headerValue(at: now)),
        HeaderField("Content-Type", send.format.contentType),
        HeaderField("ServiceBusNotification-Format", send.format.rawValue),
        HeaderField("ServiceBusNotification-Tags", send.tags),
    ]
    let endpoint = connection.endpoint
    let address = "\(endpoint.scheme)://\(endpoint.authority)" + HubPath(endpoint: endpoint, hub: hub).send
    guard let url = URL(string: address) else { throw URLError(.badURL) }
    return (url, fields, send.body)
}

/// The next step after a reply.
func afterReply(status: Int, fields: [HeaderField], body: [UInt8], now: Int64) -> String {
    let reply = HubReply(status: status, fields: fields, body: body, now: now)
    return switch reply.meaning {
    case .accepted: "sent as \(reply.notificationID ?? "an unnamed send")"
    case .busy(let wait): "send again in \(wait ?? .seconds(5))"
    case .unknownAcceptance: "sending again may be a second notification"
    default: "give up: \(reply.detail ?? "no reason given")"
    }
}
// end

@Test func `the article's request is complete, and its replies are understood`() throws {
    let connection = try ConnectionString(
        parsing: "Endpoint=sb://news.servicebus.windows.net/;SharedAccessKeyName=Full;SharedAccessKey=a2V5")
    let (url, fields, body) = try newsRequest(connection, hub: try HubName("breaking-news"), now: 1_800_000_000)
    #expect(url.absoluteString == "https://news.servicebus.windows.net/breaking-news/messages?api-version=2020-06")
    let areSendable = fields.allSatisfy { $0.isSendable }
    #expect(areSendable)
    #expect(fields.last?.value == "World || Politics")
    #expect(!body.isEmpty)
    let location = [HeaderField("Location", "https://news/breaking-news/messages/17?api-version=2020-06")]
    #expect(afterReply(status: 201, fields: location, body: [], now: 0) == "sent as 17")
    #expect(afterReply(status: 429, fields: [], body: [], now: 0) == "send again in 10.0 seconds")
}
