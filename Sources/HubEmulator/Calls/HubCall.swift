import ByteText
import NotificationHub

/// The resource that a path below the hub names. Segments compare without regard to case, because clients send
/// `/Messages`, `/Registrations` and `/registrationIDs`.
enum HubCall: Sendable, Hashable {
    case messages
    case batch
    case message(id: String)
    case scheduledNotifications
    case scheduledNotification(id: String)
    case registrationIDs
    case registrations
    case registration(id: String)
    case taggedRegistrations(tag: String)
    case installation(id: String)
    case feedbackContainer
    case jobs
    case job(id: String)

    /// - Parameter segments: the path after the hub's name.
    init?(_ segments: ArraySlice<String>) {
        guard let word = segments.first?.lowercased(), segments.count <= 3 else { return nil }
        let rest = segments.dropFirst()
        switch (word, rest.count) {
        case ("messages", 0): self = .messages
        case ("messages", 1):
            guard let id = rest.first else { return nil }
            self = id.equalsIgnoringASCIICase("$batch") ? .batch : .message(id: id)
        case ("messages", 2):
            // The `Location` that the service returns for a batch can have this form.
            guard let mark = rest.first, mark.equalsIgnoringASCIICase("$batch"), let id = rest.last else { return nil }
            self = .message(id: id)
        case ("schedulednotifications", 0): self = .scheduledNotifications
        case ("registrationids", 0): self = .registrationIDs
        // The current service puts the addresses of lists and entries below `resources`.
        case ("registrations", 0), ("resources", 0): self = .registrations
        case ("feedbackcontainer", 0): self = .feedbackContainer
        case ("jobs", 0): self = .jobs
        // The service repeats the id in a job's address.
        case ("jobs", 2):
            guard let id = rest.first, rest.last == id else { return nil }
            self = .job(id: id)
        case ("tags", 2):
            guard let tag = rest.first, let last = rest.last, last.equalsIgnoringASCIICase("registrations") else {
                return nil
            }
            self = .taggedRegistrations(tag: tag)
        case (_, 1):
            guard let id = rest.first else { return nil }
            switch word {
            case "schedulednotifications": self = .scheduledNotification(id: id)
            case "registrations", "resources": self = .registration(id: id)
            case "installations": self = .installation(id: id)
            case "jobs": self = .job(id: id)
            default: return nil
            }
        default: return nil
        }
    }

    /// True when a POST to it sends notifications.
    var isSend: Bool {
        switch self {
        case .messages, .batch, .scheduledNotifications: true
        default: false
        }
    }

    /// The most bytes of a body.
    var bodyLengthMax: Int { self == .batch ? MultipartBatch.bodyLengthMax : SendRequest.bodyLengthMax }

    /// The rights any one of which permits this call; `nil` for a method that the call does not have.
    func rights(for method: String) -> AccessRule.Rights? {
        switch (self, method) {
        case (.messages, "POST"), (.batch, "POST"), (.scheduledNotifications, "POST"),
            (.scheduledNotification, "DELETE"):
            .send
        case (.message, "GET"): [.send, .manage]
        case (.registrationIDs, "POST"), (.registrations, "POST"), (.registration, "GET"), (.registration, "PUT"),
            (.registration, "DELETE"):
            [.listen, .manage]
        // A list by channel needs only Listen. All other lists need Manage, which the list itself checks.
        case (.registrations, "GET"): [.listen, .manage]
        case (.installation, "GET"), (.installation, "PUT"), (.installation, "PATCH"), (.installation, "DELETE"):
            [.listen, .manage]
        case (.taggedRegistrations, "GET"), (.feedbackContainer, "GET"), (.jobs, "GET"), (.jobs, "POST"),
            (.job, "GET"):
            .manage
        default: nil
        }
    }
}
