import ByteText
import NewsModel

extension PayloadContent {
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
