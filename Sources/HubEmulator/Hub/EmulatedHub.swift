import ByteText
import NotificationHub

/// One notification hub as a value: requests in, answers out. Time is an argument, and a seed determines random
/// choices.
///
/// Follows the known rules of the service. It never waits, reads a clock or opens a socket. A send is answered when it
/// is accepted; `deliver(limit:at:)` makes its deliveries later.
public struct EmulatedHub: Sendable {
    public private(set) var settings: HubSettings
    /// The namespace's description of this hub, which includes the hub's rules.
    var description: HubDescription {
        didSet {
            settings.rules = description.rules
            tokenVerifier = TokenVerifier(settings)
        }
    }

    var tokenVerifier: TokenVerifier
    var random: SeededRandom
    var faultPlan = FaultPlan()
    var sendThrottle: Throttle?
    var testThrottle = Throttle(perMinute: 10)
    /// Parsed tag headers. Clients repeat the same few headers.
    var audiences: [String: Audience] = [:]

    var registrations = RegistrationTable()
    var templates = TemplateCache()
    var installations: [String: Installation] = [:]
    var lagging: [LaggingInstallation] = []
    var retiredIDs: Set<RegistrationID> = []
    var fanOuts = FanOutQueue()
    /// Sends that wait for their scheduled time, the earliest first.
    var scheduled: [FanOut] = []
    var deviceOutcomes: [String: PushOutcome] = [:]
    /// Notifications of test sends, returned with the next deliveries.
    var testDeliveries: [PushedNotification] = []
    var platformErrors: BoundedLog<PlatformError>
    /// The hub's jobs, oldest first.
    var jobs: [RegistrationJob] = []
    var changes: [HubChange] = []
    var daily = DailyFigures()

    /// The notifications handed to devices, newest last.
    public internal(set) var delivered: BoundedLog<PushedNotification>
    /// The sends that were accepted, newest last.
    public internal(set) var received: BoundedLog<ReceivedMessage>

    public init(settings: HubSettings) {
        self.settings = settings
        description = HubDescription(rules: settings.rules, at: HubTime(milliseconds: 0))
        tokenVerifier = TokenVerifier(settings)
        random = SeededRandom(seed: settings.seed)
        sendThrottle = settings.sendsPerMinute.map { Throttle(perMinute: $0) }
        delivered = BoundedLog(countMax: settings.deliveriesKept, weightMax: settings.messageBytesKept)
        received = BoundedLog(countMax: settings.messagesKept, weightMax: settings.messageBytesKept)
        platformErrors = BoundedLog(countMax: min(10_000, settings.deliveriesKept), weightMax: 8 * 1024 * 1024)
    }

    /// Applies the namespace's description of this hub.
    mutating func join(_ description: HubDescription, storageKey: AccessKey) {
        settings.storageKey = storageKey
        self.description = description
    }

    // MARK: Faults

    /// The active faults, oldest first.
    public var faults: [HubFault] { faultPlan.faults }

    public mutating func add(_ fault: HubFault) { faultPlan.add(fault) }

    public mutating func clearFaults() { faultPlan.removeAll() }

    // MARK: Calls

    /// Carries out a request and returns the answer.
    public mutating func handle(_ request: HubHTTPRequest, at now: HubTime) -> HubHTTPResponse {
        handle(request, RequestTarget(request.target), at: now)
    }

    mutating func handle(_ request: HubHTTPRequest, _ target: RequestTarget?, at now: HubTime) -> HubHTTPResponse {
        let call = target.flatMap { HubCall($0.segments.dropFirst()) }
        let faults = faultPlan.use(for: Self.kind(of: call, request), using: &random)
        var response: HubHTTPResponse
        if faults.contains(where: { $0.reset == .before }) {
            response = HubHTTPResponse(status: 503)
            response.transmission = .reset
        } else if let fault = faults.first(where: { $0.status != nil }), let status = fault.status {
            let refusal = Refusal(
                status: status, message: Self.faultMessage(status), retryAfter: fault.retryAfter.map { Int64($0) })
            response = reply(refusal, at: now)
        } else {
            do throws(Refusal) {
                guard let target else { throw Refusal.badRequest("The request's address is malformed") }
                let isExpired = faults.contains { $0.expiresTokens }
                response = try answer(request, target: target, call: call, tokenIsExpired: isExpired, at: now)
            } catch {
                response = reply(error, at: now)
            }
            if faults.contains(where: { $0.reset == .after }) { response.transmission = .reset }
        }
        response.delayMilliseconds = faults.reduce(0) { min(600_000, $0 + $1.latencyMilliseconds) }
        if response.transmission == .whole, let pace = faults.lazy.compactMap(\.slowBody).first {
            response.transmission = .slow(bytesPerSecond: pace)
        }
        return response
    }

    /// The kind of a call, by which faults choose calls.
    private static func kind(of call: HubCall?, _ request: HubHTTPRequest) -> HubFault.Calls? {
        if call?.isSend == true, request.method == "POST" { return .sends }
        if case .message? = call { return .telemetry }
        return nil
    }

    /// The longest body that `handle` accepts, in bytes. Only a batch from a client that may send can be longer than
    /// usual.
    mutating func bodyLengthMax(of request: HubHTTPRequest, _ target: RequestTarget, at now: HubTime) -> Int {
        guard let call = HubCall(target.segments.dropFirst()), call.bodyLengthMax > SendRequest.bodyLengthMax,
            let wanted = call.rights(for: request.method),
            let rights = try? tokenVerifier.rights(for: request, path: target.rawPath, at: now),
            !rights.isDisjoint(with: wanted)
        else { return SendRequest.bodyLengthMax }
        return call.bodyLengthMax
    }

    private mutating func answer(
        _ request: HubHTTPRequest, target: RequestTarget, call: HubCall?, tokenIsExpired: Bool, at now: HubTime
    ) throws(Refusal) -> HubHTTPResponse {
        let rights = try rights(request, target, tokenIsExpired: tokenIsExpired, at: now)
        guard let name = target.segments.first, name.equalsIgnoringASCIICase(settings.name.text), let call else {
            throw .notFound("The requested resource was not found")
        }
        daily.countCall(registrations, at: now)
        defer { daily.note(registrations, at: now) }
        guard let wanted = call.rights(for: request.method) else {
            throw .wrongMethod(request.method)
        }
        guard !rights.isDisjoint(with: wanted) else { throw .rightMissing(wanted, in: settings.era) }
        let version = try APIVersion(of: target)
        guard !request.bodyIsTooLong, request.body.count <= call.bodyLengthMax else {
            throw Refusal(status: 413, message: "The request body exceeds \(call.bodyLengthMax / 1024) KB")
        }
        let context = CallContext(request: request, target: target, rights: rights, version: version, now: now)
        return try answer(call, context)
    }

    private mutating func rights(
        _ request: HubHTTPRequest, _ target: RequestTarget, tokenIsExpired: Bool = false, at now: HubTime
    ) throws(Refusal) -> AccessRule.Rights {
        do throws(TokenRefusal) {
            let rights = try tokenVerifier.rights(for: request, path: target.rawPath, at: now)
            if tokenIsExpired { throw TokenRefusal.expiredToken }
            return rights
        } catch {
            throw Refusal(status: 401, message: "\(error)")
        }
    }

    /// Requires the Manage right for a call about the hub as a whole. A missing right is answered with 401.
    mutating func requireManage(_ context: CallContext) throws(Refusal) {
        guard try rights(context.request, context.target, at: context.now).contains(.manage) else {
            throw .claimMissing(.manage)
        }
    }

    private mutating func answer(_ call: HubCall, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        switch (call, context.request.method) {
        case (.messages, _): try send(context)
        case (.batch, _): try sendBatch(context)
        case (.message(let id), _): try telemetry(id, context)
        case (.scheduledNotifications, _): try schedule(context)
        case (.scheduledNotification(let id), _): try cancelScheduled(id)
        case (.registrationIDs, _): reserveID(context)
        case (.registrations, "POST"): try createRegistration(context)
        case (.registrations, _): try listRegistrations(context)
        case (.registration(let id), "PUT"): try putRegistration(id, context)
        case (.registration(let id), "DELETE"): try deleteRegistration(id, context)
        case (.registration(let id), _): try readRegistration(id, context)
        case (.taggedRegistrations(let tag), _): try listRegistrations(tag: tag, context)
        case (.installation(let id), "PUT"): try putInstallation(id, context)
        case (.installation(let id), "PATCH"): try patchInstallation(id, context)
        case (.installation(let id), "DELETE"): deleteInstallation(id)
        case (.installation(let id), _): try readInstallation(id)
        case (.feedbackContainer, _): try readFeedbackContainer(context)
        case (.jobs, "POST"): try submitJob(context)
        case (.jobs, _): try listJobs(context)
        case (.job(let id), _): try readJob(id, context)
        }
    }

    /// `GET /messages/{id}`: the telemetry of a send.
    private mutating func telemetry(_ id: String, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try requireStandard("Telemetry")
        guard var message = message(id: id), let seen = telemetry(of: message, at: context.now) else {
            throw .notFound("The notification was not found")
        }
        message.telemetry = seen
        let host = context.request.headers["Host"] ?? ""
        let version = context.target["api-version"] ?? context.version.name
        let location = "sb://\(host)/\(settings.name)/messages/\(id)?api-version=\(version)"
        // Older versions have no error details.
        let errors = context.version < .namesErrorDetails ? nil : errorDetails(of: message, context)
        return reply(
            200, body: Array(NotificationTelemetry.xml(message, location: location, errorDetails: errors).utf8))
    }

    /// The telemetry of a send that is visible now; `nil` before it becomes visible, or if it never does.
    private func telemetry(of message: ReceivedMessage, at now: HubTime) -> NotificationTelemetry? {
        let times = settings.telemetry
        var random = SeededRandom(seed: settings.seed &+ UInt64(truncatingIfNeeded: message.number))
        if random.next() % 1_000_000 < times.missingMillionths { return nil }
        return message.telemetry.seen(after: now.millisecondsSince(message.time), sentAt: message.time, by: times)
    }

    private static func faultMessage(_ status: Int) -> String {
        switch status {
        case 429: "The request was throttled"
        case 500: "Unknown error has occured."
        case 503: "Azure Notifications Hub Server Busy"
        default: "A fault that was asked for"
        }
    }
}

struct CallContext: Sendable {
    var request: HubHTTPRequest
    var target: RequestTarget
    /// The caller's rights on the hub; empty until they are checked.
    var rights: AccessRule.Rights = []
    var version = APIVersion.oldest
    var now: HubTime
}
