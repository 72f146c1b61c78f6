public import KafkaModel
public import NewsModel
public import NotificationHub

/// Builds requests from events. The same event, routing, lane and times give the same bytes, so a retry repeats the first
/// request, except for the seconds that an event with an expiry has left.
///
/// An object, because every request uses it.
public final class PayloadBuilder: Sendable {
    static let testMark = "TEST "

    public let settings: PayloadSettings
    private let message: MessageTemplate
    /// The translator; `nil` if no send carries several languages.
    private let translator: Translator?
    /// The operator's bodies; few, so that a search is quick.
    private let natives: [NativePayload]
    private let properties: TemplateProperties?

    /// - Throws: every problem of the settings.
    public init(_ settings: PayloadSettings = PayloadSettings()) throws(PayloadProblems) {
        let problems = settings.problems
        guard problems.isEmpty else { throw PayloadProblems(problems) }
        self.settings = settings
        message = try MessageTemplate(settings.message)
        var natives: [NativePayload] = []
        for (platform, body) in settings.native { natives.append(try NativePayload(body, for: platform)) }
        self.natives = natives
        properties = settings.properties.isEmpty ? nil : try TemplateProperties(settings.properties)
        guard let localization = settings.localization, localization.mode == .properties else {
            translator = nil
            return
        }
        translator = try Translator(localization)
    }

    /// The languages whose readers get the text of another one.
    public func filled(for event: NewsEvent, on platform: Platform) -> [String] {
        guard let translator, platform == .template else { return [] }
        return translator.filled(for: event)
    }

    /// - Parameters:
    ///   - since: the time at which the event may leave. The time to live counts from here, because the publication may be
    ///     years ago in an archive. Without it phones get no point in time as the expiry, unless the event has one.
    ///   - sentAt: the time of the send. An event that expires then lives only for the rest of its time, also if it waited to be sent.
    ///   - isQuiet: the notification makes no sound and lights no screen.
    ///   - inBackground: if it is quiet too, phones pass it to the app without showing it. In template mode the device's
    ///     quiet template decides.
    public func payload(
        _ event: NewsEvent, routing: Routing.Tagged, platform: Platform, lane: LaneID, since: Instant? = nil,
        sentAt: Instant? = nil, isQuiet: Bool = false, inBackground: Bool = false
    ) -> Payload {
        let quiet: UrgencyClass = inBackground && platform != .template ? .background : .quiet
        let urgency = isQuiet ? quiet : settings.interruption.class(of: event, lane: lane)
        let expiry = Self.expiry(
            of: event, since: since, sentAt: sentAt, settings.timeToLive.duration(urgency, lane: lane))
        if !natives.isEmpty, let template = natives.first(where: { $0.platform == platform })?[urgency],
            let payload = native(
                template, values(event, urgency, expiry), event, routing, platform, isQuiet: isQuiet)
        {
            return payload
        }
        var data = Self.allowed(event.data[...], on: platform)
        var text = message.render(event, category: routing.label)
        var title = event.headline
        var translations: [Translation] = []
        if let translator {
            if platform == .template {
                translations = translator.translations(of: event, category: routing.label)
                if data.contains(where: { translator.isProperty($0.name) }) {
                    data = data.filter { !translator.isProperty($0.name) }[...]
                }
            } else if case let headline = translator.headline(for: event), headline != title {
                title = headline
                text = message.render(event, headline: headline, category: routing.label)
            }
        }
        // News for single readers may have no category; removes the gap of its missing name.
        if routing.label.isEmpty {
            text = text.replacing("  ", with: " ")
            for index in translations.indices {
                translations[index].text = translations[index].text.replacing("  ", with: " ")
            }
        }
        // Readers who are testers too must see at once that it is a test.
        if event.isTest {
            text = Self.testMark + text
            title = Self.testMark + title
            for index in translations.indices { translations[index].text = Self.testMark + translations[index].text }
        }
        var content = PayloadContent(
            message: text, title: title,
            category: routing.label, thread: routing.categories.first ?? "",
            id: event.id, link: event.link, image: event.image, summary: event.summary,
            story: event.story, data: data, orderKey: event.orderKey, urgency: urgency,
            timeToLive: expiry.secondsToLive, translations: translations,
            templateFields: platform == .template ? TemplateFields(event) : TemplateFields())
        if let properties, platform == .template {
            properties.apply(to: &content, values(event, urgency, expiry), event, routing)
        }
        let fields = PayloadHeaders.fields(of: content, on: platform, expiry: expiry.at)
        // Before the content is moved, because a copy of it counts a reference for each of its texts.
        let isRaw = content.isRaw(on: platform)
        var fit = PayloadFit(
            content: consume content, platform: platform, bodyLengthMax: platform.facts.bodyLengthMax)
        let request = SendRequest(
            format: platform, tags: isQuiet ? routing.quietExpression : routing.expression, fields: fields,
            body: fit.body(), isRaw: isRaw)
        let reserved: PayloadCuts = data.count == event.data.count ? [] : .reservedData
        return Payload(request: request, cuts: fit.cuts.union(reserved))
    }

    private func values(
        _ event: NewsEvent, _ urgency: UrgencyClass, _ expiry: (at: Instant?, secondsToLive: Int)
    ) -> NativeContent {
        NativeContent(
            headline: translator?.headline(for: event) ?? event.headline, template: message, urgency: urgency,
            expiry: expiry)
    }

    /// The operator's body in a request; `nil` if nothing makes it fit, so that the built-in one is sent.
    private func native(
        _ template: NativeTemplate, _ content: NativeContent, _ event: NewsEvent, _ routing: Routing.Tagged,
        _ platform: Platform, isQuiet: Bool
    ) -> Payload? {
        var fit = NativeFit(template, content, event, routing, bodyLengthMax: platform.facts.bodyLengthMax)
        guard let body = fit.body() else { return nil }
        // The headers need the rest of the content only.
        let headers = PayloadContent(
            message: "", category: "", thread: "", data: [], orderKey: event.orderKey, urgency: content.urgency,
            timeToLive: content.expiry.secondsToLive, templateFields: TemplateFields())
        let request = SendRequest(
            format: platform, tags: isQuiet ? routing.quietExpression : routing.expression,
            fields: PayloadHeaders.fields(of: headers, on: platform, expiry: content.expiry.at), body: body,
            isRaw: headers.isRaw(on: platform))
        return Payload(request: request, cuts: fit.cuts)
    }

    /// The end of the time to live, or the event's own expiry if that is earlier. Some push services count the seconds from the time
    /// of the send.
    private static func expiry(
        of event: borrowing NewsEvent, since: Instant?, sentAt: Instant?, _ timeToLive: Duration
    ) -> (at: Instant?, secondsToLive: Int) {
        var duration = timeToLive
        if let since, let expiresAt = event.expiresAt { duration = min(max(expiresAt - since, .seconds(1)), duration) }
        let at = since.map { $0 + duration } ?? event.expiresAt
        if let sentAt, let expiresAt = event.expiresAt {
            duration = min(max(expiresAt - sentAt, .seconds(1)), duration)
        }
        return (at, Int(duration.nanoseconds / 1_000_000_000))
    }

    private static func allowed(
        _ data: ArraySlice<NewsEvent.DataField>, on platform: Platform
    ) -> ArraySlice<NewsEvent.DataField> {
        guard data.contains(where: { PayloadContent.isReserved($0.name, on: platform) }) else { return data }
        return data.filter { !PayloadContent.isReserved($0.name, on: platform) }[...]
    }
}
