import ByteText
import NotificationHub

extension EmulatedHub {
    /// `&test`: at most 10 devices picked at random, told at once, with an answer that says how each went.
    mutating func testSend(_ submission: Submission, _ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        if let seconds = testThrottle.secondsToWait(at: context.now) { throw throttled(context, seconds: seconds) }
        var submission = submission
        submission.kind = .test
        let id = notificationID(at: context.now)
        let number = log(submission, id: id, context, state: .completed)
        var deliveries: [Delivery] = []
        if case .handles(let handles) = submission.audience, submission.format != .template {
            deliveries = handles.prefix(10).map { handle in
                pushed(submission, id: id, to: nil, handle: handle, at: context.now)
            }
        } else {
            let fanOut = FanOut(number: number, id: id, submission: submission)
            let plan = registrations.plan(fanOut.query, RegistrationTable.Kind(submission.format))
            var slots = route(submission.audience, plan).filter { registrations.isMeant($0, plan) }
            slots = slots.filter { !registrations.isRepeat($0, plan) }
            // The first ten places of a shuffle.
            for place in 0..<min(10, slots.count) {
                slots.swapAt(place, place + Int(random.next() % UInt64(slots.count - place)))
            }
            for slot in slots.prefix(10) {
                guard let registration = registrations.bare(slot) else { continue }
                deliveries.append(
                    pushed(submission, id: id, to: registration, handle: registration.handle, at: context.now))
            }
        }
        testDeliveries += deliveries
        let fields = settings.tier.hasTelemetry ? [location(context, "messages/\(id)", flags: "&test")] : []
        return reply(201, fields, body: Array(Self.outcome(deliveries).utf8))
    }

    private static func outcome(_ deliveries: [Delivery]) -> String {
        let successes = deliveries.count { $0.outcome == .success }
        var out = "<NotificationOutcome xmlns=\"\(RegistrationXML.namespace)\" xmlns:i=\"\(RegistrationXML.instance)\">"
        out += "<Success>\(successes)</Success><Failure>\(deliveries.count - successes)</Failure><Results>"
        for delivery in deliveries {
            out += "<RegistrationResult><ApplicationPlatform>\(delivery.platform.rawValue)</ApplicationPlatform>"
            out += "<PnsHandle>\(XMLText.escaped(delivery.handle))</PnsHandle>"
            out += "<RegistrationId>\(delivery.registrationID ?? "")</RegistrationId>"
            out += "<Outcome>\(sentence(delivery.outcome))</Outcome></RegistrationResult>"
        }
        return out + "</Results></NotificationOutcome>"
    }

    private static func sentence(_ outcome: PushOutcome) -> String {
        switch outcome {
        case .success: "The Notification was successfully sent to the Push Notification System"
        case .invalidCredentials: "The Token obtained from the Token Provider is wrong"
        case .badChannel, .expiredChannel, .wrongToken:
            "The Push Notification System handle for the registration is invalid"
        case .invalidNotificationSize, .invalidNotificationFormat: "The notification payload is invalid"
        default: outcome.rawValue
        }
    }
}
