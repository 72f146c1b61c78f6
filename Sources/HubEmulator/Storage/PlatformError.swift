import NotificationHub

/// A push that a platform refused. The feedback container and `PnsErrorDetailsUri` report it.
struct PlatformError: Sendable {
    var time: HubTime
    var outcome: PushOutcome
    var platform: Platform
    var handle: String
    var registrationID: String?
    var installationID: String?
    var messageID: String

    /// One document on one line. Like the service's, it claims to be UTF-16 and is UTF-8.
    var xml: String {
        var out = "<?xml version=\"1.0\" encoding=\"utf-16\"?><PnsFeedback xmlns:i=\"\(RegistrationXML.instance)\" "
        out += "xmlns=\"\(RegistrationXML.namespace)\"><FeedbackTime>\(time.iso(fractionDigits: 7))</FeedbackTime>"
        let members: [(String, String?)] = [
            ("NotificationSystemError", outcome.rawValue), ("Platform", platform.rawValue), ("PnsHandle", handle),
            ("RegistrationId", registrationID), ("InstallationId", installationID), ("NotificationId", messageID),
        ]
        for case (let name, let text?) in members {
            out += RegistrationXML.element(name, text.split(whereSeparator: \.isNewline).joined(separator: " "))
        }
        return out + "</PnsFeedback>\r\n"
    }
}

extension EmulatedHub {
    /// The container with this hub's feedback and error details. Its name consists of digits, as in the service.
    var feedbackContainer: String {
        let digits = String(RegistrationID(of: settings.name.text.lowercased(), template: nil).first)
        return String(repeating: "0", count: max(0, 20 - digits.count)) + digits
    }

    mutating func report(_ delivery: PushedNotification, of registration: Registration?) {
        guard delivery.outcome != .success, delivery.outcome != .skipped else { return }
        let error = PlatformError(
            time: delivery.time, outcome: delivery.outcome, platform: delivery.platform, handle: delivery.handle,
            registrationID: delivery.registrationID, installationID: registration?.installation,
            messageID: delivery.messageID)
        platformErrors.append(error, weight: error.handle.utf8.count + 500)
    }

    /// The feedback blobs: one for each day on which a channel was reported dead, named by the day.
    var feedback: [(name: String, blob: BlobStore.Blob)] {
        let dead = platformErrors.entries(after: 0, limit: .max).map(\.entry).filter(\.outcome.endsRegistration)
        return Dictionary(grouping: dead, by: \.time.feedbackDay).sorted { $0.key < $1.key }
            .map { (name: $0.key, blob: blob($0.value)) }
    }

    /// One day's feedback, or the errors of one send; `nil` without any.
    func feedbackBlob(_ name: String) -> BlobStore.Blob? {
        let all = platformErrors.entries(after: 0, limit: .max).lazy.map(\.entry)
        let named = all.filter { $0.messageID == name || $0.outcome.endsRegistration && $0.time.feedbackDay == name }
        return named.isEmpty ? nil : blob(Array(named))
    }

    private func blob(_ errors: [PlatformError]) -> BlobStore.Blob {
        BlobStore.Blob(
            bytes: errors.flatMap { Array($0.xml.utf8) }, contentType: "application/octet-stream",
            modified: errors.last?.time ?? HubTime(milliseconds: 0), version: errors.count)
    }

    /// `GET /feedbackcontainer`: the container's address, valid for an hour.
    mutating func readFeedbackContainer(_ context: CallContext) throws(Refusal) -> HubHTTPResponse {
        try requireStandard("Feedback")
        let grant = StorageGrant(
            container: feedbackContainer, permissions: "rl", expires: context.now.advanced(byMilliseconds: 3_600_000))
        return reply(200, body: Array(grant.url(base: context.request.base, key: settings.storageKey).utf8))
    }

    /// The address of a send's platform errors; `nil` without errors.
    func errorDetails(of message: ReceivedMessage, _ context: CallContext) -> String? {
        let id = message.id
        guard message.telemetry.counts.contains(where: { $0.outcome != .success && $0.outcome != .skipped }),
            platformErrors.entries(after: 0, limit: .max).contains(where: { $0.entry.messageID == id })
        else { return nil }
        let expires = context.now.advanced(byMilliseconds: 3_600_000)
        return StorageGrant(container: feedbackContainer, blob: id, permissions: "r", expires: expires)
            .url(base: context.request.base, key: settings.storageKey)
    }

    func requireStandard(_ feature: String) throws(Refusal) {
        guard settings.tier.hasTelemetry else { throw .forbidden("\(feature) needs the Standard tier") }
    }
}
