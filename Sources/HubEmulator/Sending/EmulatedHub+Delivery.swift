import ByteText
import NotificationHub

extension EmulatedHub {
    /// True when `deliver` has something to do now.
    public func hasWork(at now: HubTime) -> Bool {
        fanOuts.count > 0 || !testDeliveries.isEmpty || wakeAt.map { $0 <= now } ?? false
    }

    /// The time at which the next scheduled send or delayed installation is due.
    public var wakeAt: HubTime? {
        [scheduled.first?.due, lagging.first?.due].compactMap { $0 }.min()
    }

    /// Continues the deliveries of accepted sends.
    /// - Parameter limit: the most registrations examined in this call. Later calls examine the others.
    /// - Returns: the notifications handed to devices.
    public mutating func deliver(limit: Int, at now: HubTime) -> [PushedNotification] {
        takeEffect(at: now)
        startScheduled(at: now)
        var done = testDeliveries
        testDeliveries = []
        var budget = limit
        while budget > 0, let fanOut = fanOuts.pop() { carry(fanOut, budget: &budget, into: &done, at: now) }
        return done
    }

    private mutating func carry(
        _ fanOut: FanOut, budget: inout Int, into done: inout [PushedNotification], at now: HubTime
    ) {
        var fanOut = fanOut
        var telemetry = received[fanOut.number]?.telemetry ?? NotificationTelemetry()
        if telemetry.start == nil { telemetry.start = now }
        budget -= 1
        if case .handles(let handles) = fanOut.submission.audience, fanOut.submission.format != .template {
            while fanOut.next < handles.count, budget > 0 {
                push(fanOut, to: nil, handle: handles[fanOut.next], &telemetry, into: &done, at: now)
                fanOut.next += 1
                budget -= 1
            }
            finish(fanOut, total: handles.count, telemetry, at: now)
            return
        }
        let plan = registrations.plan(fanOut.query, RegistrationTable.Kind(fanOut.submission.format))
        let slots = fanOut.slots ?? route(fanOut.submission.audience, plan)
        fanOut.slots = slots
        while fanOut.next < slots.count, budget > 0 {
            let slot = slots[fanOut.next]
            fanOut.next += 1
            budget -= 1
            // The registration may have changed since the send was routed, so it is checked again.
            guard registrations.matches(slot, plan), let registration = registrations.withoutTags(slot) else {
                continue
            }
            if registration.expires <= now {
                removeRegistration(slot)
            } else if registrations.isRepeat(slot, plan) {
                telemetry.add(.skipped, platform: registration.platform, isTemplate: registration.template != nil)
            } else {
                push(fanOut, to: registration, handle: registration.handle, &telemetry, into: &done, at: now)
            }
        }
        finish(fanOut, total: slots.count, telemetry, at: now)
    }

    func route(_ audience: Audience, _ plan: RegistrationTable.Plan) -> [UInt32] {
        switch audience {
        case .nobody: []
        case .handles(let handles): handles.flatMap { registrations.slots(handle: $0) }
        case .everyone, .tagged: registrations.candidates(plan)
        }
    }

    private mutating func finish(_ fanOut: FanOut, total: Int, _ telemetry: NotificationTelemetry, at now: HubTime) {
        var telemetry = telemetry
        if fanOut.next < total {
            // Until a registration was examined, the send is still waiting and may start again after a restart.
            if fanOut.next > 0 { telemetry.state = .processing }
            fanOuts.putBack(fanOut)
        } else {
            telemetry.state = telemetry.counts.isEmpty ? .noTargetFound : .completed
            telemetry.end = now
        }
        guard var message = received[fanOut.number], message.id == fanOut.id else { return }
        let begins = telemetry.state == .processing && message.telemetry.state != .processing
        message.telemetry = telemetry
        received[fanOut.number] = message
        if begins || telemetry.end != nil { record(.message(message)) }
    }

    /// Hands one notification to one device and records the platform's outcome.
    private mutating func push(
        _ fanOut: FanOut, to registration: Registration?, handle: String, _ telemetry: inout NotificationTelemetry,
        into done: inout [PushedNotification], at now: HubTime
    ) {
        let delivery = pushed(
            fanOut.submission, id: fanOut.id, to: registration, handle: handle, at: now)
        telemetry.add(delivery.outcome, platform: delivery.platform, isTemplate: registration?.template != nil)
        done.append(delivery)
    }

    mutating func pushed(
        _ submission: Submission, id: String, to registration: Registration?, handle: String, at now: HubTime
    ) -> PushedNotification {
        let platform = registration?.platform ?? submission.format
        var headers = Self.platformHeaders(submission, platform)
        var body = submission.body
        var isTooLarge = false
        if let template = registration?.template, case .properties(let properties) = submission.content {
            let expanded = template.expanded(TemplateProperties(properties, variables: registration?.variables ?? []))
            isTooLarge = expanded == nil
            body = expanded?.body ?? []
            let own = expanded?.headers ?? []
            headers =
                own + headers.filter { sent in !own.contains { $0.name.equalsIgnoringASCIICase(sent.name) } }
        }
        var outcome = deviceOutcomes[handle] ?? .success
        // An outcome that was set for the device takes precedence.
        if platform == .apple, outcome == .success {
            if !DeviceHandle.isToken(handle) { outcome = .badChannel }
            let isSound =
                registration?.template.map { $0.hasAps || !PayloadRules.needsAps(headers) }
                ?? (submission.content != .native(isSound: false))
            if !isSound { outcome = .invalidNotificationFormat }
        }
        if platform == .windows, outcome == .success, !PayloadRules.hasSoundTag(headers) {
            outcome = .invalidNotificationFormat
        }
        if isTooLarge || body.count > platform.facts.bodyLengthMax { outcome = .invalidNotificationSize }
        if outcome.endsRegistration, let registration, let slot = registrations.slot(registration.id) {
            // An installation has one channel for all its templates.
            let dead = registration.installation.map { registrations.slots(installation: $0) } ?? [slot]
            dead.forEach { removeRegistration($0) }
            retire(registration.id)
            if let id = registration.installation { expireChannel(of: id, handle: registration.handle) }
        }
        let delivery = PushedNotification(
            number: delivered.total + 1, time: now, messageID: id, platform: platform, handle: handle,
            registrationID: registration.map { "\($0.id)" }, templateName: registration?.templateName, headers: headers,
            body: body, outcome: outcome)
        delivered.append(delivery, weight: delivery.weight)
        record(.delivery(delivery))
        report(delivery, of: registration)
        return delivery
    }

    /// The headers meant for the platform rather than the hub. A template send has them only for Apple.
    private static func platformHeaders(_ submission: Submission, _ platform: Platform) -> [HeaderField] {
        submission.headers.filter { field in
            let isApples =
                field.name.hasPrefixIgnoringASCIICase("apns-") || field.name.hasPrefixIgnoringASCIICase("X-Apns-")
                || field.name.equalsIgnoringASCIICase("ServiceBusNotification-Apns-Expiry")
            if submission.format == .template { return isApples && platform == .apple }
            return isApples || !field.name.hasPrefixIgnoringASCIICase("ServiceBusNotification-")
        }
    }

    // MARK: Devices

    /// The notifications to one device that are still kept, oldest first.
    public func deliveries(to handle: String) -> [PushedNotification] {
        delivered.entries(after: 0, limit: .max).lazy.map(\.entry).filter {
            DeviceHandle.names(handle, $0.handle, on: $0.platform)
        }
    }

    /// The ids of the device's registrations.
    public func registrationIDs(handle: String) -> [String] {
        registrations.slots(handle: handle).compactMap { registrations.withoutTags($0).map { "\($0.id)" } }
    }

    /// The tags by which template sends reach the device; `nil` if it has no template registered.
    public func templateTags(handle: String) -> [String]? {
        registrations.slots(handle: handle).lazy.compactMap { registrations[$0] }.first { $0.template != nil }?.tags
    }

    /// Sets the platform's outcome for pushes to a handle; `nil` restores success. At most 10,000 are kept.
    public mutating func setOutcome(_ outcome: PushOutcome?, handle: String) {
        for handle in DeviceHandle.spellings(of: handle)
        where outcome == nil || deviceOutcomes[handle] != nil || deviceOutcomes.count < 10_000 {
            deviceOutcomes[handle] = outcome
        }
    }

    public var registrationCount: Int { registrations.count }
    public var deviceCount: Int { registrations.deviceCount }
}
