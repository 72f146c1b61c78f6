public import NotificationHub

extension PushTemplate {
    /// Shows `messageParam`, the text that newsrooms send, and hands the app what it needs to open the story. A newer
    /// version of a story takes the place of the older one on the screen; on Apple's devices the sender sees to that.
    public static func breakingNews(for channel: PushChannel) -> PushTemplate {
        let name = "breakingNews"
        let data = #""category":"$(category)","id":"$(id)","story":"$(story)","link":"$(link)""#
        switch channel {
        case .apple:
            return PushTemplate(name: name, body: #"{"aps":{"alert":"$(messageParam)","sound":"default"},\#(data)}"#)
        case .fcmv1:
            return PushTemplate(
                name: name, body: #"{"message":{"notification":{"body":"$(messageParam)"},"data":{\#(data)}}}"#)
        case .windows:
            let texts = #"<text id="1">$(category)</text><text id="2">$(messageParam)</text>"#
            let visual = #"<visual><binding template="ToastText02">\#(texts)</binding></visual>"#
            return PushTemplate(
                name: name, body: #"<toast launch="$(link)">\#(visual)</toast>"#,
                headers: [Header("X-WNS-Type", "wns/toast"), Header("X-WNS-Tag", "$(story,16)")])
        case .browser:
            return PushTemplate(name: name, body: #"{"message":"$(messageParam)","tag":"$(story)",\#(data)}"#)
        }
    }
}
