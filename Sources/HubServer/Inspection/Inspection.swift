import ByteText
import Foundation
import HTTPServing
import HubEmulator
import NotificationHub

/// The emulator's own interface for inspection and faults, below `/_emulator`.
struct Inspection: Sendable {
    private static let messagesMax = 1000

    let hub: ServedHub
    /// The rule that the page shows in its connection string.
    let rule: AccessRule?
    /// True to answer callers from other machines too.
    let allowsRemote: Bool
    let dashboard: @Sendable () -> String?
    /// Receives the page's stories; `nil` sends them directly to the hub.
    let publish: (@Sendable (ComposedStory) async throws -> Void)?

    static func isInspection(_ target: String) -> Bool { target.hasPrefix("/_emulator/") }

    /// True when the caller may use this interface.
    func admits(_ caller: Caller) -> Bool { caller.isLocal || allowsRemote && caller.isInvited }

    /// Carries out a request of an admitted caller.
    func reply(to request: HubHTTPRequest) async -> HubHTTPResponse {
        let name = request.target.prefix { $0 != "?" }.dropFirst("/_emulator/".count)
        guard let query = Self.query(of: request) else {
            return Self.problem(400, "The query is not percent-encoded UTF-8: write % as %25.")
        }
        switch (request.method, name) {
        case ("GET", "count"):
            return Self.json(["count": .integer(hub.withHub { $0.received.total })])
        case ("GET", "status"): return status(query)
        case ("GET", "storage"):
            let base = (request.isSecure ? "https://" : "http://") + (request.headers["Host"] ?? "")
            return Self.json(["jobs": .string(hub.jobsContainerURL(base: base))])
        case ("GET", "messages"): return messages(query)
        case ("GET", "faults"): return Self.json(.array(hub.withHub { $0.faults }.map(\.json)))
        case ("POST", "faults"): return addFaults(request)
        case ("DELETE", "faults"):
            hub.withHub { $0.clearFaults() }
            return HubHTTPResponse(status: 204)
        case ("GET", "phone"): return phone(request)
        case ("GET", "overview"): return overview(query)
        case ("POST", "stories"): return await compose(request)
        default:
            guard name.hasPrefix("devices/"), let handle = name.dropFirst(8).percentDecoded(), !handle.isEmpty
            else {
                return Self.problem(404, "There is nothing here.")
            }
            switch request.method {
            case "GET": return device(handle, query)
            case "PUT": return setOutcome(request, handle)
            default: return Self.problem(405, "Devices are read with GET and set with PUT.")
            }
        }
    }

    static let noSuchHub = problem(404, "There is no hub of this name.")

    private func status(_ query: FormFields) -> HubHTTPResponse {
        let counts = hub.withHub(named: query["hub"]) {
            ($0.received.total, $0.delivered.total, $0.registrationCount)
        }
        guard let (received, delivered, registrations) = counts else { return Self.noSuchHub }
        return Self.json([
            "received": .integer(received), "delivered": .integer(delivered), "registrations": .integer(registrations),
        ])
    }

    /// One device's deliveries and registrations.
    private func device(_ handle: String, _ query: FormFields) -> HubHTTPResponse {
        let found = hub.withHub(named: query["hub"]) {
            ($0.registrationIDs(handle: handle), $0.deliveries(to: handle))
        }
        guard let (registrations, deliveries) = found else { return Self.noSuchHub }
        return Self.json([
            "handle": .string(handle), "registrations": .strings(registrations),
            "deliveries": .array(deliveries.map(\.json)),
        ])
    }

    /// `{"outcome":"ExpiredChannel"}`: sets the platform's outcome for later pushes to the device.
    private func setOutcome(_ request: HubHTTPRequest, _ handle: String) -> HubHTTPResponse {
        let word = JSONTree(parsing: request.body)?["outcome"]?.string ?? ""
        guard let outcome = PushOutcome(rawValue: word) else {
            let known = PushOutcome.allCases.map(\.rawValue).joined(separator: ", ")
            return Self.problem(400, "outcome must be one of \(known).")
        }
        hub.withHub { $0.setOutcome(outcome == .success ? nil : outcome, handle: handle) }
        return HubHTTPResponse(status: 204)
    }

    /// The values with which a phone on the page registers over the hub's own interface. They include a token of the
    /// Listen-only key, but not the key.
    private func phone(_ request: HubHTTPRequest) -> HubHTTPResponse {
        let rule = hub.settings.rules.first { $0.rights == .listen }
        let expires = hub.now.seconds + 3600
        let base = (request.isSecure ? "https://" : "http://") + (request.headers["Host"] ?? "")
        let token = rule.map { rule in
            SharedAccessSignature.token(
                resource: base + "/" + hub.settings.name.text, keyName: rule.name, key: rule.primaryKey,
                expiresAt: expires)
        }
        return Self.json([
            "hub": .string(hub.settings.name.text), "token": .text(token), "expires": .integer(expires),
            "throughKafka": .bool(publish != nil), "phones": .array(PagePhone.all.map(\.json)),
            "languages": .array(PageLanguage.all.map(\.json)),
        ])
    }

    /// `{"category":…,"headline":…,"story":…}`: sends a test story to the hub, or to the receiver in the settings.
    private func compose(_ request: HubHTTPRequest) async -> HubHTTPResponse {
        var random = SystemRandomNumberGenerator()
        var delay: Int64 = 0
        let id = "page-" + String(random.next(), radix: 36)
        let json = JSONTree(parsing: request.body)
        guard json?["at"] == nil else {
            return Self.problem(400, "This page sends at once: leave out \"at\". newswire send --at TIME sends later.")
        }
        guard let json, let story = ComposedStory(json: json, id: id) else {
            return Self.problem(400, "A story needs a category and a headline of at most 500 characters.")
        }
        if let publish {
            do { try await publish(story) } catch { return Self.problem(502, "The story could not be published.") }
        } else {
            let rule = hub.settings.rules.first { $0.rights.contains(.send) }
            let host = request.headers["Host"] ?? "localhost"
            guard let rule else { return Self.problem(409, "No rule of this hub may send.") }
            let token = SharedAccessSignature.token(
                resource: "http://\(host)/", keyName: rule.name, key: rule.primaryKey, expiresAt: hub.now.seconds + 60)
            let reply = hub.handle(story.request(hub: hub.settings.name, host: host, token: token))
            // A fault that affects the send also affects the page's answer.
            delay = reply.delayMilliseconds
            guard reply.status == 201, reply.transmission != .reset else {
                let trouble = reply.transmission == .reset ? "cut the connection" : "answered \(reply.status)"
                var problem = Self.problem(502, "The hub \(trouble).")
                problem.delayMilliseconds = delay
                return problem
            }
        }
        var answer = Self.json(["id": .string(id), "story": .string(story.story)], status: 202)
        answer.delayMilliseconds = delay
        return answer
    }

    /// `?after=N&limit=M`: the messages numbered above N, oldest first.
    private func messages(_ query: FormFields) -> HubHTTPResponse {
        let after = query["after"].flatMap { Int($0) } ?? 0
        let limit = min(Self.messagesMax, max(1, query["limit"].flatMap { Int($0) } ?? Self.messagesMax))
        let (total, entries) = hub.withHub { ($0.received.total, $0.received.entries(after: after, limit: limit)) }
        return Self.json(["count": .integer(total), "messages": .array(entries.map(\.entry.json))])
    }

    /// One fault, or an array of them.
    private func addFaults(_ request: HubHTTPRequest) -> HubHTTPResponse {
        guard let json = JSONTree(parsing: request.body) else { return Self.problem(400, "The body is not JSON.") }
        var described = [json]
        if case .array(let list) = json { described = list }
        do throws(HubFaultProblem) {
            var faults: [HubFault] = []
            for json in described { faults.append(try HubFault(json: json)) }
            hub.withHub { hub in faults.forEach { hub.add($0) } }
            return Self.json(.array(faults.map(\.json)))
        } catch {
            return Self.problem(400, error.message)
        }
    }

    static func json(_ value: JSONTree, status: Int = 200) -> HubHTTPResponse {
        HubHTTPResponse(
            status: status, headers: ["Content-Type": "application/json", "Cache-Control": "no-store"],
            body: value.bytes)
    }

    static func problem(_ status: Int, _ message: String) -> HubHTTPResponse {
        json(["error": .string(message)], status: status)
    }

    /// - Returns: `nil` for a broken escape.
    static func query(of request: HubHTTPRequest) -> FormFields? {
        FormFields(request.target.drop { $0 != "?" }.dropFirst())
    }
}
