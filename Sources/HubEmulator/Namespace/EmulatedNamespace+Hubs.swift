import ByteText
import NotificationHub

enum NamespaceCall: Sendable, Hashable {
    /// `GET /`: the names of the hubs.
    case names
    /// `GET /$Resources/NotificationHubs`: their descriptions.
    case descriptions
    /// `/{hub}`: the hub itself, by its name.
    case hub(String)

    /// `nil` for a call to one of the hubs' own resources.
    init?(_ target: RequestTarget) {
        switch target.segments.count {
        case 0: self = .names
        case 1: self = .hub(target.segments[0])
        case 2
        where target.segments[0].equalsIgnoringASCIICase("$Resources")
            && target.segments[1].equalsIgnoringASCIICase("NotificationHubs"):
            self = .descriptions
        default: return nil
        }
    }
}

extension EmulatedNamespace {
    private static let entryType = RegistrationXML.entryType
    private static let feedType = RegistrationXML.feedType

    mutating func answer(_ call: NamespaceCall, _ context: CallContext) -> HubHTTPResponse {
        do throws(Refusal) {
            _ = try APIVersion(of: context.target)
            let request = context.request
            guard !request.bodyIsTooLong else { throw Refusal(status: 413, message: "The request body exceeds 64 KB") }
            switch (call, request.method) {
            case (.names, "GET"): return try names(context)
            case (.descriptions, "GET"): return try descriptions(context)
            case (.hub(let name), "GET"): return try read(name, context)
            case (.hub(let name), "PUT"):
                return try request.headers["If-Match"] == nil ? create(name, context) : update(name, context)
            case (.hub(let name), "DELETE"): return try delete(name, context)
            default: throw .wrongMethod(request.method)
            }
        } catch {
            return itself.reply(error, at: context.now)
        }
    }

    // MARK: Lists

    private mutating func names(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try itself.requireManage(context)
        return feed(hubs.map(\.settings.name), context)
    }

    /// The hub names, in the form in which .NET reads them. The answer for a missing hub is an empty list too.
    private mutating func feed(_ names: [HubName], _ context: CallContext) -> HubHTTPResponse {
        let id = { [feedID] (number: Int) in "uuid:\(feedID);id=\(number)" }
        feedNumber += 1
        var out = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">Publicly Listed Services</title>"
        out += "<subtitle type=\"text\">This is the list of publicly-listed services currently available.</subtitle>"
        out += "<id>\(id(feedNumber))</id><updated>\(context.now.iso())</updated><generator>Service Bus 1.1</generator>"
        for name in names {
            feedNumber += 1
            let address = XMLText.escaped("\(context.request.base)/\(name)")
            out +=
                "<entry><id>\(id(feedNumber))</id><title type=\"text\">\(name)</title><updated>\(context.now.iso())</updated>"
            out += "<link rel=\"alternate\" href=\"\(address)\"/></entry>"
        }
        return itself.reply(200, contentType: Self.feedType, body: Array((out + "</feed>").utf8))
    }

    private mutating func descriptions(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try itself.requireManage(context)
        let skipped = max(0, context.target["$skip"].flatMap { Int($0) } ?? 0)
        let shown = max(0, context.target["$top"].flatMap { Int($0) } ?? Self.hubsMax)
        let url = XMLText.escaped(context.request.base + context.request.target)
        var out =
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">NotificationHubs</title><id>\(url)</id>"
        out += "<updated>\(context.now.iso())</updated><link rel=\"self\" href=\"\(url)\"/>"
        for hub in hubs.dropFirst(skipped).prefix(shown) { out += Self.entry(hub, context, readAt: context.now) }
        return itself.reply(200, contentType: Self.feedType, body: Array((out + "</feed>").utf8))
    }

    /// - Parameter readAt: adds this day's figures, which the service includes only when a description is read.
    private static func entry(
        _ hub: EmulatedHub, _ context: CallContext, saysCreated: Bool = true, readAt now: HubTime? = nil
    ) -> String {
        let query = context.target["api-version"].map { "?api-version=\($0)" } ?? ""
        let author = String(context.request.hostName.prefix { $0 != "." })
        return hub.description.entry(
            name: hub.settings.name, address: "\(context.request.base)/\(hub.settings.name)\(query)", author: author,
            saysCreated: saysCreated, daily: now.map { hub.dailyFigures(at: $0) })
    }

    // MARK: One hub

    private mutating func read(_ name: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        guard let index = index(of: name) else {
            try itself.requireManage(context)
            return feed([], context)
        }
        try hubs[index].requireManage(context)
        return itself.reply(
            200, contentType: Self.entryType,
            body: Array(Self.entry(hubs[index], context, readAt: context.now).utf8))
    }

    private mutating func create(_ text: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        if let index = index(of: text) {
            try hubs[index].requireManage(context)
            throw Refusal(status: 409, message: "SubCode=40900. Conflict")
        }
        try itself.requireManage(context)
        let name: HubName
        do { name = try HubName(text) } catch { throw .badRequest("\(error)") }
        guard !Self.reserves(name) else {
            throw .badRequest("Names that begin with '\(Self.ownPrefix)' are the emulator's own")
        }
        guard hubs.count < Self.hubsMax else {
            throw .forbidden("The quota of \(Self.hubsMax) notification hubs in a namespace is exceeded")
        }
        var description = HubDescription(rules: HubSettings.defaultRules(makeKey), at: context.now)
        try description.read(context.request.body, at: context.now)
        addHub(name, description)
        record(.description(description.stored), of: name)
        let entry = hubs.last.map { Self.entry($0, context) } ?? ""
        return itself.reply(201, contentType: Self.entryType, body: Array(entry.utf8))
    }

    private mutating func update(_ name: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        let index = try existing(name, context)
        var description = hubs[index].description
        try description.read(context.request.body, at: context.now)
        hubs[index].description = description
        record(.description(description.stored), of: hubs[index].settings.name)
        let entry = Self.entry(hubs[index], context, saysCreated: false)
        return itself.reply(200, contentType: Self.entryType, body: Array(entry.utf8))
    }

    private mutating func delete(_ name: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        let index = try existing(name, context)
        guard index > 0 else {
            throw .forbidden("This hub was named at start; end the emulator instead")
        }
        let deleted = hubs.remove(at: index)
        record(.description(nil), of: deleted.settings.name)
        return itself.reply(200, contentType: nil)
    }

    private mutating func existing(_ name: String, _ context: CallContext) throws(Refusal) -> Int {
        guard let index = index(of: name) else {
            try itself.requireManage(context)
            throw .notFound("No service is hosted at the specified address.")
        }
        try hubs[index].requireManage(context)
        return index
    }
}
