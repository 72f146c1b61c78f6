import ByteText
import NotificationHub

/// A change that a store should keep.
public enum HubChange: Sendable {
    /// A registration made without an installation, as an Atom entry; `nil` when it was removed.
    case registration(id: String, etag: UInt32, entry: [UInt8]?)
    /// An installation as JSON; `nil` when it was removed.
    case installation(id: String, json: [UInt8]?)
    /// A send that was accepted, whose deliveries have begun and need several calls, or whose deliveries are complete.
    case message(ReceivedMessage)
    /// A notification that was handed to a device.
    case delivery(PushedNotification)
    /// The namespace's description of the hub, with its keys; `nil` when the hub was deleted with its contents.
    case description([UInt8]?)
}

extension EmulatedHub {
    /// Returns the changes since the last call. Empty unless `settings.recordsChanges` is set.
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
        let entry = RegistrationXML(era: .year2023, place: .replaced)
            .entry(registration, address: "", at: HubTime(milliseconds: 0))
        record(.registration(id: "\(registration.id)", etag: registration.etag, entry: Array(entry.utf8)))
    }

    mutating func removeRegistration(_ slot: UInt32) {
        guard let registration = registrations.withoutTags(slot) else { return }
        registrations.remove(slot)
        if registration.installation == nil {
            record(.registration(id: "\(registration.id)", etag: registration.etag, entry: nil))
        }
    }

    /// Marks the id as permanently gone. A client that uses it again is answered with 410 and must get a new one.
    mutating func retire(_ id: RegistrationID) {
        // Forgetting these ids only means that the hub accepts them again.
        if retiredIDs.count >= 10_000 { retiredIDs = [] }
        retiredIDs.insert(id)
    }

    // MARK: Restoring

    /// Restores a registration from `HubChange.registration`. Skips a damaged entry.
    /// - Returns: false when it could not be read.
    public mutating func restoreRegistration(id: String, etag: UInt32, entry: [UInt8]) -> Bool {
        guard let id = RegistrationID(id),
            var registration = try? RegistrationXML.read(
                entry, id: id, tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        else { return false }
        registration.etag = etag
        registrations.put(registration)
        return true
    }

    /// Restores an installation from `HubChange.installation`. Skips a damaged one.
    /// - Returns: false when it could not be read.
    public mutating func restoreInstallation(id: String, json: [UInt8]) -> Bool {
        guard let json = JSONTree(parsing: json), var installation = try? Installation(json: json, id: id) else {
            return false
        }
        installation.channelIsExpired = json["pushChannelExpired"] == .bool(true)
        guard
            let made = try? installation.registrations(tagsMax: settings.tagsPerRegistrationMax, templates: &templates)
        else { return false }
        installations[id] = installation
        made.forEach { registrations.put($0) }
        return true
    }

    /// Restores a send. Call it for the oldest send first; earlier numbers count as dropped. A send that was waiting
    /// continues. A send that was interrupted during its deliveries is abandoned, because some devices already have it.
    public mutating func restore(_ message: ReceivedMessage) {
        var message = message
        func send(_ message: ReceivedMessage) -> FanOut? {
            Submission(restoring: message).map { FanOut(number: message.number, id: message.id, submission: $0) }
        }
        switch message.telemetry.state {
        case .enqueued: if let send = send(message) { fanOuts.append(send) }
        case .scheduled: if let send = send(message), send.submission.due != nil { wait(send) }
        case .processing: message.telemetry.state = .abandoned
        case .completed, .canceled, .abandoned, .noTargetFound, .unknown: break
        }
        received.skip(to: message.number)
        received.append(message, weight: message.weight)
    }

    /// Restores a delivery, for a device that was away. Call it for the oldest delivery first.
    public mutating func restore(_ delivery: PushedNotification) {
        delivered.skip(to: delivery.number)
        delivered.append(delivery, weight: delivery.weight)
    }
}

extension Submission {
    /// Rebuilds the send as it was accepted; `nil` when the record is damaged.
    fileprivate init?(restoring message: ReceivedMessage) {
        let headers = HubHeaders(fields: message.headers)
        guard
            let audience = message.handles.isEmpty ? try? Audience(tagsHeader: message.tags) : .handles(message.handles)
        else { return nil }
        // A batch's own content type is multipart; the payload has that of its part.
        let contentType = message.kind == .batch ? message.format.contentType : headers["Content-Type"]
        guard
            let content = try? PayloadRules.check(
                format: message.format, contentType: contentType, headers: headers, body: message.body, isDirect: false)
        else { return nil }
        self.init(
            kind: message.kind, format: message.format, audience: audience.kept(on: message.format), content: content,
            headers: message.headers, body: message.body,
            due: headers["ServiceBusNotification-ScheduleTime"].flatMap { HubTime(clientText: $0.trimmed) })
    }
}
