import Foundation
import FoundationXML
import HubEmulator
import NotificationHub

/// The text that a phone of the message's platform would show.
enum MessageText {
    static func of(_ message: ReceivedMessage) throws -> String? {
        let data = Data(message.body)
        guard message.format != .windows else { return try ToastReader.firstText(data) }
        let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
        switch message.format {
        case .template: return json?["messageParam"] as? String
        case .apple: return (json?["aps"] as? [String: Any])?["alert"] as? String
        case .fcmv1:
            let notification = (json?["message"] as? [String: Any])?["notification"] as? [String: Any]
            return notification?["body"] as? String
        default: return nil
        }
    }
}

/// Reads the first `<text>` of a toast.
private final class ToastReader: NSObject, XMLParserDelegate {
    private var text: String?
    private var isReading = false

    static func firstText(_ data: Data) throws -> String? {
        let reader = ToastReader()
        let parser = XMLParser(data: data)
        parser.delegate = reader
        guard parser.parse() else { throw parser.parserError ?? CocoaError(.fileReadCorruptFile) }
        return reader.text
    }

    func parser(
        _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        isReading = name == "text" && text == nil
        if isReading { text = "" }
    }

    func parser(_ parser: XMLParser, foundCharacters string: String) {
        if isReading { text = (text ?? "") + string }
    }

    func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
        isReading = false
    }
}
