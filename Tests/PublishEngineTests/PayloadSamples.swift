import Foundation
import KafkaModel
import NewsModel
import NotificationHub

@testable import PublishEngine

#if canImport(FoundationXML)
import FoundationXML
#endif

/// Payloads read back by Foundation's parsers.
enum PayloadSamples {
    static let world = Routing.Tagged(categories: ["World"], tags: ["World"], expression: "World", label: "World")
    static let since = Instant(nanoseconds: 1_763_690_000_000_000_000)

    /// An event with everything in it.
    static func event(headline: String = "Headline") -> NewsEvent {
        var event = NewsEvent(id: "id-1", headline: headline)
        event.summary = "A summary"
        event.story = "story-1"
        event.link = "https://example.com/?a=1&b=2"
        event.image = "https://example.com/1.jpg"
        event.data = [.init(name: "edition", value: "AM"), .init(name: "ünï\"", value: "<&>\\")]
        return event
    }

    /// - Parameter timeToLive: in seconds.
    static func payload(
        _ event: NewsEvent, _ platform: Platform, lane: Int = 0, message: String = "{{headline}}", timeToLive: Int = 900
    ) throws -> Payload {
        var settings = PayloadSettings(message: message)
        settings.timeToLive.standard = .seconds(timeToLive)
        return try PayloadBuilder(settings).payload(
            event, routing: world, platform: platform, lane: LaneID(lane), since: since)
    }

    /// The text that a phone shows of a body.
    static func message(in body: [UInt8], of platform: Platform) -> String? {
        switch platform {
        case .windows: XMLReading(body)?.texts["text"]
        case .windowsphone: XMLReading(body)?.texts["wp:Text2"]
        case .template: json(body)?["messageParam"] as? String
        case .apple: object(body, "aps")?["alert"] as? String
        case .fcmv1: (object(body, "message")?["notification"] as? [String: Any])?["body"] as? String
        case .gcm, .adm: object(body, "data")?["message"] as? String
        case .baidu, .xiaomi: json(body)?["description"] as? String
        case .browser: json(body)?["message"] as? String
        }
    }

    /// The fields an app finds beside the message.
    static func fields(in body: [UInt8], of platform: Platform) -> [String: Any]? {
        switch platform {
        case .windows: XMLReading(body)?.attributes["launch"].flatMap { json(Array($0.utf8)) }
        case .windowsphone: nil
        case .template, .apple, .browser: json(body)
        case .fcmv1: object(body, "message")?["data"] as? [String: Any]
        case .gcm, .adm: object(body, "data")
        case .baidu: object(body, "custom_content")
        case .xiaomi: object(body, "extra")
        }
    }

    static func json(_ body: [UInt8]) -> [String: Any]? {
        (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any]
    }

    private static func object(_ body: [UInt8], _ name: String) -> [String: Any]? {
        json(body)?[name] as? [String: Any]
    }
}

/// The texts of an XML document by element, and all its attributes.
final class XMLReading: NSObject, XMLParserDelegate {
    private(set) var texts: [String: String] = [:]
    private(set) var attributes: [String: String] = [:]
    private var element = ""

    init?(_ body: [UInt8]) {
        super.init()
        let parser = XMLParser(data: Data(body))
        parser.delegate = self
        guard parser.parse() else { return nil }
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String] = [:]
    ) {
        element = name
        texts[name] = texts[name] ?? ""
        self.attributes.merge(attributes) { $1 }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        texts[element, default: ""] += string
    }
}
