import ByteText
import NewsModel
import NotificationHub

/// The values of an event for the operator's bodies. Event and routing are arguments of its functions, because storing them
/// would count a reference for each of their texts.
struct NativeContent {
    /// The headline for readers of all languages.
    private let headline: String
    private let messageTemplate: MessageTemplate?
    let urgency: UrgencyClass
    let expiry: (at: Instant?, secondsToLive: Int)

    /// - Parameter template: the template of `message`; `nil` for an empty one.
    init(
        headline: String, template: MessageTemplate?, urgency: UrgencyClass,
        expiry: (at: Instant?, secondsToLive: Int)
    ) {
        self.headline = headline
        (messageTemplate, self.urgency, self.expiry) = (template, urgency, expiry)
    }

    /// An empty text is an absent value.
    func text(_ value: NativeTemplate.Value, _ event: NewsEvent, _ routing: Routing.Tagged) -> String {
        switch value {
        case .variable(let variable): text(variable, event, routing)
        case .rendered(let template): text(template, event, routing)
        }
    }

    func text(_ template: MessageTemplate, _ event: NewsEvent, _ routing: Routing.Tagged) -> String {
        guard let segments = template.segments else {
            return template.render(event.data) { text($0, event, routing) }
        }
        return segments.reduce(into: "") { result, segment in
            switch segment {
            case .text(let literal): result += literal
            case .variable(let variable): result += text(variable, event, routing)
            }
        }
    }

    private func text(_ variable: MessageVariable, _ event: NewsEvent, _ routing: Routing.Tagged) -> String {
        switch variable {
        case .field(.headline): marked(headline, event)
        case .field(.summary): event.summary.map { marked($0, event) } ?? ""
        case .field(.link): Self.address(event.link)
        case .payload(let field): text(field, event, routing)
        default: variable.value(event, routing.label) ?? ""
        }
    }

    /// Readers who are testers too must see at once that it is a test.
    private func marked(_ text: String, _ event: NewsEvent) -> String {
        event.isTest ? PayloadBuilder.testMark + text : text
    }

    private func message(_ event: NewsEvent, _ routing: Routing.Tagged) -> String {
        guard let messageTemplate else { return "" }
        var text = messageTemplate.render(event, headline: headline, category: routing.label)
        // News for single readers may have no category.
        if routing.label.isEmpty { text = text.replacing("  ", with: " ") }
        return marked(text, event)
    }

    private func text(
        _ field: MessageVariable.PayloadField, _ event: NewsEvent, _ routing: Routing.Tagged
    ) -> String {
        switch field {
        case .message: message(event, routing)
        case .image: Self.address(event.image)
        case .categories: routing.categories.joined(separator: ",")
        case .categorySlug: Self.slug(routing.categories.first ?? "")
        case .collapseId: CollapseID.name(of: event.orderKey)
        case .collapseKey: event.story == nil ? "" : CollapseID.name(of: event.orderKey)
        case .ttl: String(expiry.secondsToLive)
        case .expiresAt: expiry.at.map(\.description) ?? ""
        case .urgencyClass: urgency.rawValue
        }
    }

    /// Browsers and apps accept no longer address.
    private static func address(_ text: String?) -> String {
        guard let text, text.utf8.count <= PayloadFit.addressLengthMax else { return "" }
        return text
    }

    /// The name in lower case, with hyphens between its words, e.g. for a channel of Android.
    static func slug(_ name: String) -> String {
        if name.utf8.allSatisfy(\.isASCIILetter) { return name.asciiLowercased }
        return name.lowercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "-")
    }
}

/// Makes the operator's body fit. Shortens the headline, the summary and the message to a common length. If less than
/// `textFloor` bytes of them would stay, leaves out the event's own values from the last, then the image, the link and
/// everything else.
struct NativeFit {
    let template: NativeTemplate
    var texts: [String]
    let bodyLengthMax: Int
    private(set) var cuts: PayloadCuts = []

    private static let textFloor = 96

    init(
        _ template: NativeTemplate, _ content: NativeContent, _ event: NewsEvent, _ routing: Routing.Tagged,
        bodyLengthMax: Int
    ) {
        self.template = template
        self.bodyLengthMax = bodyLengthMax
        texts = template.values.map { content.text($0, event, routing) }
        // Other values fit, or were left out because they are no usable addresses.
        if event.link?.utf8.count ?? 0 > PayloadFit.addressLengthMax { noteLeftOut(.link) }
        if event.image?.utf8.count ?? 0 > PayloadFit.addressLengthMax { noteLeftOut(.image) }
    }

    private mutating func noteLeftOut(_ cut: PayloadCuts) {
        if template.values.contains(where: { $0.cuts == cut }) { cuts.insert(cut) }
    }

    /// - Returns: `nil` if nothing makes it fit.
    mutating func body() -> [UInt8]? {
        if let body = attempt(texts) { return body }
        if let body = shortened(to: Self.textFloor) { return body }
        let order: [PayloadCuts] = [.data, .image, .link, .category, .id, []]
        for cut in order {
            for index in texts.indices.reversed() where template.values[index].cuts == cut && !texts[index].isEmpty {
                texts[index] = ""
                cuts.insert(cut)
                if let body = shortened(to: Self.textFloor) { return body }
            }
        }
        return shortened(to: 0)
    }

    private func attempt(_ texts: [String]) -> [UInt8]? {
        // XML leaves characters out, and a text that is far longer may fit. The bound limits the cost of an attempt.
        guard let body = template.body(texts, textsMax: 64 * bodyLengthMax) else { return nil }
        return body.count <= bodyLengthMax ? body : nil
    }

    /// Shortens the texts to the greatest common length that fits, which spares the shorter ones.
    ///
    /// - Returns: `nil` if not even `floor` bytes of each fit.
    private mutating func shortened(to floor: Int) -> [UInt8]? {
        guard var best = attempt(cut(to: floor)) else { return nil }
        var (fitting, tooLong) = (floor, bodyLengthMax + 1)
        while tooLong - fitting > 1 {
            let middle = (fitting + tooLong) / 2
            if let body = attempt(cut(to: middle)) { (fitting, best) = (middle, body) } else { tooLong = middle }
        }
        let short = cut(to: fitting)
        for index in template.texts where short[index].utf8.count != texts[index].utf8.count {
            cuts.formUnion(template.values[index].cuts)
        }
        return best
    }

    private func cut(to length: Int) -> [String] {
        let cost: (Unicode.Scalar) -> Int =
            template.syntax == .xml ? { XMLText.cost($0) } : { JSONEscaping.cost($0) }
        var short = texts
        for index in template.texts { short[index] = TextCut.cut(texts[index], to: length, cost: cost) }
        return short
    }
}

/// The longest event that the settings are checked with.
enum NativeWorstCase {
    /// The size of a body with that event, apart from its headline, summary and message.
    static func size(of template: NativeTemplate) -> Int {
        let long = { (count: Int) in String(repeating: "x", count: count) }
        var event = NewsEvent(id: long(128), headline: "x")
        event.story = long(128)
        event.version = .init(long(32))
        event.language = long(16)
        event.urgency = 9
        event.publishedAt = Instant(nanoseconds: 0)
        event.link = long(512)
        event.image = long(512)
        for case .variable(.data(let name)) in template.values {
            event.data.append(.init(name: name, value: long(128)))
        }
        let routing = Routing.Tagged(categories: [long(64)], tags: [], expression: "", label: long(64))
        let content = NativeContent(
            headline: "", template: nil, urgency: .background, expiry: (Instant(nanoseconds: 0), 2_419_200))
        var texts = template.values.map { content.text($0, event, routing) }
        for index in template.texts { texts[index] = "" }
        return template.body(texts)?.count ?? 0
    }
}
