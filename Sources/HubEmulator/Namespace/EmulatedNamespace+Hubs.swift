import ByteText
import NotificationHub

/// A call to the namespace itself.
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

    mutating func answer(
        _ call: NamespaceCall, _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) -> HubHTTPResponse {
        do throws(Refusal) {
            _ = try APIVersion(of: target)
            guard !request.bodyIsTooLong else { throw Refusal(status: 413, message: "The request body exceeds 64 KB") }
            switch (call, request.method) {
            case (.names, "GET"): return try names(request, target, at: now)
            case (.descriptions, "GET"): return try descriptions(request, target, at: now)
            case (.hub(let name), "GET"): return try read(name, request, target, at: now)
            case (.hub(let name), "PUT"):
                return request.headers["If-Match"] == nil
                    ? try create(name, request, target, at: now) : try update(name, request, target, at: now)
            case (.hub(let name), "DELETE"): return try delete(name, request, target, at: now)
            default:
                throw Refusal(status: 405, message: "The method \(request.method.prefix(20)) is not allowed here")
            }
        } catch {
            return itself.reply(error, at: now)
        }
    }

    // MARK: Lists

    private mutating func names(_ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime) throws(Refusal)
        -> HubHTTPResponse
    {
        try itself.requireManage(request, target, at: now)
        return feed(hubs.map(\.settings.name), request, at: now)
    }

    /// The hub names, in the form in which .NET reads them. The answer for a missing hub is an empty list too.
    private mutating func feed(_ names: [HubName], _ request: HubHTTPRequest, at now: HubTime) -> HubHTTPResponse {
        let id = { [feedID] (number: Int) in "uuid:\(feedID);id=\(number)" }
        feedNumber += 1
        var out = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">Publicly Listed Services</title>"
        out += "<subtitle type=\"text\">This is the list of publicly-listed services currently available.</subtitle>"
        out += "<id>\(id(feedNumber))</id><updated>\(now.iso())</updated><generator>Service Bus 1.1</generator>"
        for name in names {
            feedNumber += 1
            let address = XMLText.escaped("\(request.base)/\(name)")
            out +=
                "<entry><id>\(id(feedNumber))</id><title type=\"text\">\(name)</title><updated>\(now.iso())</updated>"
            out += "<link rel=\"alternate\" href=\"\(address)\"/></entry>"
        }
        return itself.reply(200, contentType: Self.feedType, body: Array((out + "</feed>").utf8))
    }

    private mutating func descriptions(
        _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) throws(Refusal) -> HubHTTPResponse {
        try itself.requireManage(request, target, at: now)
        let skipped = max(0, target["$skip"].flatMap { Int($0) } ?? 0)
        let shown = max(0, target["$top"].flatMap { Int($0) } ?? Self.hubsMax)
        let url = XMLText.escaped(request.base + request.target)
        var out =
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">NotificationHubs</title><id>\(url)</id>"
        out += "<updated>\(now.iso())</updated><link rel=\"self\" href=\"\(url)\"/>"
        for hub in hubs.dropFirst(skipped).prefix(shown) { out += Self.entry(hub, request, target, readAt: now) }
        return itself.reply(200, contentType: Self.feedType, body: Array((out + "</feed>").utf8))
    }

    /// - Parameter readAt: adds this day's figures, which the service includes only when a description is read.
    private static func entry(
        _ hub: EmulatedHub, _ request: HubHTTPRequest, _ target: RequestTarget, saysCreated: Bool = true,
        readAt now: HubTime? = nil
    ) -> String {
        let query = target["api-version"].map { "?api-version=\($0)" } ?? ""
        let author = String(request.hostName.prefix { $0 != "." })
        return hub.description.entry(
            name: hub.settings.name, address: "\(request.base)/\(hub.settings.name)\(query)", author: author,
            saysCreated: saysCreated, daily: now.map { hub.dailyFigures(at: $0) })
    }

    // MARK: One hub

    private mutating func read(
        _ name: String, _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) throws(Refusal) -> HubHTTPResponse {
        guard let index = index(of: name) else {
            try itself.requireManage(request, target, at: now)
            return feed([], request, at: now)
        }
        try hubs[index].requireManage(request, target, at: now)
        return itself.reply(
            200, contentType: Self.entryType,
            body: Array(Self.entry(hubs[index], request, target, readAt: now).utf8))
    }

    private mutating func create(
        _ text: String, _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) throws(Refusal) -> HubHTTPResponse {
        if let index = index(of: text) {
            try hubs[index].requireManage(request, target, at: now)
            throw Refusal(status: 409, message: "SubCode=40900. Conflict")
        }
        try itself.requireManage(request, target, at: now)
        let name: HubName
        do { name = try HubName(text) } catch { throw .badRequest("\(error)") }
        guard !Self.reserves(name) else {
            throw .badRequest("Names that begin with '\(Self.ownPrefix)' are the emulator's own")
        }
        guard hubs.count < Self.hubsMax else {
            throw .forbidden("The quota of \(Self.hubsMax) notification hubs in a namespace is exceeded")
        }
        var description = HubDescription(rules: defaultRules(), at: now)
        try description.read(request.body, at: now)
        addHub(name, description)
        record(.description(description.stored), of: name)
        let entry = hubs.last.map { Self.entry($0, request, target) } ?? ""
        return itself.reply(201, contentType: Self.entryType, body: Array(entry.utf8))
    }

    private mutating func update(
        _ name: String, _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) throws(Refusal) -> HubHTTPResponse {
        let index = try existing(name, request, target, at: now)
        var description = hubs[index].description
        try description.read(request.body, at: now)
        hubs[index].description = description
        record(.description(description.stored), of: hubs[index].settings.name)
        let entry = Self.entry(hubs[index], request, target, saysCreated: false)
        return itself.reply(200, contentType: Self.entryType, body: Array(entry.utf8))
    }

    private mutating func delete(
        _ name: String, _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) throws(Refusal) -> HubHTTPResponse {
        let index = try existing(name, request, target, at: now)
        guard index > 0 else {
            throw .forbidden("This hub was named at start; end the emulator instead")
        }
        let deleted = hubs.remove(at: index)
        record(.description(nil), of: deleted.settings.name)
        return itself.reply(200, contentType: nil)
    }

    private mutating func existing(
        _ name: String, _ request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime
    ) throws(Refusal) -> Int {
        guard let index = index(of: name) else {
            try itself.requireManage(request, target, at: now)
            throw .notFound("No service is hosted at the specified address.")
        }
        try hubs[index].requireManage(request, target, at: now)
        return index
    }
}
