import ByteText
import NewsModel
import NotificationHub

/// Makes a payload fit. Removes the summary, the title, the event's own values from the last, then the image. Only then
/// cuts the message. Translations are shortened to the text limit; all stay. If less than `messageFloor` bytes of the
/// message would stay, removes the link, then the id, then the category. The result always fits.
struct PayloadFit {
    // No explicit initializer, because it would copy the content and count a reference for each of its texts.
    var content: PayloadContent
    let platform: Platform
    let bodyLengthMax: Int
    private(set) var cuts: PayloadCuts = []

    private static let messageFloor = 256
    /// The longest message, title and property of a template, in escaped bytes. The hub's rendering of a template must fit into
    /// the 4,096 bytes of Apple and Google, and one that does not fit reaches no phone.
    private static let templateTextMax = 1_536
    /// The longest description that Xiaomi accepts, in characters.
    private static let xiaomiTextMax = 128
    /// Browsers and apps accept no longer address.
    static let addressLengthMax = 2_048

    /// The bytes of a scalar, escaped.
    private var cost: (Unicode.Scalar) -> Int {
        platform.facts.syntax == .xml ? { XMLText.cost($0) } : { JSONEscaping.cost($0) }
    }

    mutating func body() -> [UInt8] {
        boundTexts()
        if let body = attempt() { return body }
        drop(\.summary, .summary)
        if let body = attempt() { return body }
        drop(\.title, .title)
        if let body = attempt() { return body }
        dropData()
        if let body = attempt() { return body }
        drop(\.image, .image)
        if let body = attempt() { return body }
        return bodyWithMessageCut()
    }

    private func attempt() -> [UInt8]? {
        let raw = content.rawLength
        guard raw <= bodyLengthMax else { return nil }
        let body = content.body(for: platform, capacity: raw + 416)
        return body.count <= bodyLengthMax ? body : nil
    }

    private mutating func drop(_ part: WritableKeyPath<PayloadContent, String?>, _ cut: PayloadCuts) {
        guard content[keyPath: part] != nil else { return }
        content[keyPath: part] = nil
        cuts.insert(cut)
    }

    private mutating func boundTexts() {
        if content.link?.utf8.count ?? 0 > Self.addressLengthMax { drop(\.link, .link) }
        if content.image?.utf8.count ?? 0 > Self.addressLengthMax { drop(\.image, .image) }
        if platform == .xiaomi {
            content.message = shortened(content.message, to: Self.xiaomiTextMax, .message) { _ in 1 }
        }
        let max = platform == .template ? Self.templateTextMax : bodyLengthMax
        // Escaping takes at most six bytes for one, so usual texts need no scan.
        if content.message.utf8.count > max / 6 { cutMessage(to: max) }
        for index in content.translations.indices where content.translations[index].text.utf8.count > max / 6 {
            content.translations[index].text = shortened(content.translations[index].text, to: max, .message)
        }
        // The limit of platforms: a template that inserts a longer summary would fit into no push message.
        if let summary = content.summary, platform == .template, summary.utf8.count > max / 6 {
            content.summary = shortened(summary, to: max, .summary)
        }
        if platform == .template {
            for index in content.data.indices.prefix(content.propertyCount)
            where content.data[index].value.utf8.count > max / 6 {
                content.data[index].value = shortened(content.data[index].value, to: max, .data)
            }
        }
        if let title = content.title, title.utf8.count > max / 6 { content.title = shortened(title, to: max, .title) }
    }

    private mutating func shortened(
        _ text: String, to room: Int, _ cut: PayloadCuts, cost: ((Unicode.Scalar) -> Int)? = nil
    ) -> String {
        let short = TextCut.cut(text, to: room, cost: cost ?? self.cost)
        if short.utf8.count != text.utf8.count { cuts.insert(cut) }
        return short
    }

    private mutating func cutMessage(to room: Int) {
        content.message = shortened(content.message, to: room, .message)
    }

    /// Keeps as many of the first values as fit.
    private mutating func dropData() {
        guard !content.data.isEmpty else { return }
        let all = content.data
        var fitting = 0
        // A field takes at least five bytes besides its texts, which bounds the number of fields.
        var tooMany = min(all.count, bodyLengthMax / 5) + 1
        while tooMany - fitting > 1 {
            let middle = (fitting + tooMany) / 2
            content.data = all.prefix(middle)
            if attempt() == nil { tooMany = middle } else { fitting = middle }
        }
        content.data = all.prefix(fitting)
        if fitting < all.count { cuts.insert(.data) }
    }

    private mutating func bodyWithMessageCut() -> [UInt8] {
        let message = content.message
        let cost = cost
        for part in 0...3 {
            switch part {
            case 1: drop(\.link, .link)
            case 2:
                drop(\.id, .id)
                content.story = nil
            case 3:
                if !content.category.isEmpty { cuts.insert(.category) }
                content.category = ""
                content.thread = ""
            default: break
            }
            content.message = ""
            // Too long without the message: the next part must go as well.
            guard let frame = attempt() else { continue }
            content.message = message
            let room = bodyLengthMax - frame.count
            guard part == 3 || room >= Self.messageFloor || room >= message.unicodeScalars.reduce(0, { $0 + cost($1) })
            else { continue }
            cutMessage(to: room)
            break
        }
        return content.body(for: platform, capacity: bodyLengthMax)
    }
}
