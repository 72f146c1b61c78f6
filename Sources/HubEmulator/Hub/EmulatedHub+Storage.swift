import ByteText
import NotificationHub

/// Something that changed and that a store should keep.
public enum HubChange: Sendable {
    /// A registration that no installation made, as an Atom entry; `nil` when it is gone.
    case registration(id: String, etag: UInt32, entry: [UInt8]?)
    /// An installation as JSON; `nil` when it is gone.
    case installation(id: String, json: [UInt8]?)
    /// A send that was accepted, or whose deliveries are done.
    case message(ReceivedMessage)
}

extension EmulatedHub {
    /// Hands over what changed since the last time. Empty unless `settings.recordsChanges`.
    public mutating func takeChanges() -> [HubChange] {
        defer { changes = [] }
        return changes
    }

    mutating func record(_ change: @autoclosure () -> HubChange) {
        if settings.recordsChanges { changes.append(change()) }
    }

    // MARK: Registrations

    mutating func store(_ registration: Registration) {
        registrations.put(registration)
        guard settings.recordsChanges, registration.installation == nil else { return }
        let entry = RegistrationXML.entry(
            registration, address: "", place: .written, at: HubTime(milliseconds: 0))
        record(.registration(id: "\(registration.id)", etag: registration.etag, entry: Array(entry.utf8)))
    }

    mutating func removeRegistration(_ slot: UInt32) {
        guard let registration = registrations.bare(slot) else { return }
        registrations.remove(slot)
        if registration.installation == nil {
            record(.registration(id: "\(registration.id)", etag: registration.etag, entry: nil))
        }
    }

    /// The id is gone for good: a client that uses it again is told to get a new one.
    mutating func retire(_ id: RegistrationID) {
        // Ids forgotten here are merely accepted again.
        if retiredIDs.count >= 10_000 { retiredIDs = [] }
        retiredIDs.insert(id)
    }

    // MARK: Restoring

    /// Puts back what `HubChange.registration` handed over. A damaged entry is left out.
    /// - Returns: whether it could be read.
    public mutating func restoreRegistration(id: String, etag: UInt32, entry: [UInt8]) -> Bool {
        guard let id = RegistrationID(id),
            var registration = try? RegistrationXML.read(
                entry, id: id, tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        else { return false }
        registration.etag = etag
        registrations.put(registration)
        return true
    }

    /// Puts back what `HubChange.installation` handed over. A damaged one is left out.
    /// - Returns: whether it could be read.
    public mutating func restoreInstallation(id: String, json: [UInt8]) -> Bool {
        guard let json = JSONValue(parsing: json), let installation = try? Installation(json: json, id: id),
            let made = try? installation.registrations(tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        else { return false }
        installations[id] = installation
        made.forEach { registrations.put($0) }
        return true
    }

    /// Puts back a send, oldest first; numbers before it count as forgotten. One that still waited is carried on with;
    /// one whose deliveries were cut off in the middle is given up, as some devices were told already.
    public mutating func restore(_ message: ReceivedMessage) {
        var message = message
        switch message.telemetry.state {
        case .enqueued:
            if let submission = Submission(restoring: message) {
                fanOuts.append(FanOut(number: message.number, id: message.id, submission: submission))
            }
        case .scheduled:
            if let submission = Submission(restoring: message), let due = submission.due {
                wait(ScheduledSend(due: due, number: message.number, id: message.id, submission: submission))
            }
        case .processing: message.telemetry.state = .abandoned
        case .completed, .canceled, .abandoned, .noTargetFound, .unknown: break
        }
        received.skip(to: message.number)
        received.append(message, weight: message.weight)
    }
}

extension Submission {
    /// What the send must have been when it was accepted; `nil` when it is damaged.
    fileprivate init?(restoring message: ReceivedMessage) {
        let headers = HubHeaders(fields: message.headers)
        guard
            let audience = message.handles.isEmpty ? try? Audience(tagsHeader: message.tags) : .handles(message.handles)
        else { return nil }
        // A batch's own content type is that of its parts.
        let contentType = message.kind == .batch ? message.format.contentType : headers["Content-Type"]
        guard
            let content = try? PayloadRules.check(
                format: message.format, contentType: contentType, headers: headers, body: message.body, isDirect: false)
        else { return nil }
        self.init(
            kind: message.kind, format: message.format, audience: audience, content: content, headers: message.headers,
            body: message.body,
            due: headers["ServiceBusNotification-ScheduleTime"].flatMap { HubTime(clientText: $0.trimmed) })
    }
}
