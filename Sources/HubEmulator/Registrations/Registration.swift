import NotificationHub

/// One device's wish to be told, in one form: native, or through a template.
struct Registration: Sendable {
    /// What few platforms need beside the handle.
    struct Extras: Sendable, Hashable {
        var secondaryTile: String?
        /// The keys of a browser's subscription.
        var p256dh: String?
        var auth: String?
        /// Baidu addresses by two ids; the handle is the channel's.
        var baiduUserID: String?
        var baiduMessageType: String?
    }

    /// Keeps the extras out of line: most of a million registrations have none.
    private final class Box: Sendable {
        let extras: Extras

        init(_ extras: Extras) { self.extras = extras }
    }

    private var box: Box?

    var id: RegistrationID
    var platform: NotificationFormat
    /// The platform's address of the device.
    var handle: String
    /// As written by the client, order kept.
    var tags: [String] = []
    var template: Template?
    var variables: [TemplateProperty] = []
    var etag: UInt32 = 1
    var expires = HubTime.never
    /// The installation it was made from.
    var installation: String?

    init(id: RegistrationID, platform: NotificationFormat, handle: String) {
        (self.id, self.platform, self.handle) = (id, platform, handle)
    }

    var extras: Extras? {
        get { box?.extras }
        set { box = newValue.map(Box.init) }
    }

    /// What makes two registrations of one handle the same notification.
    var templateName: String? { template?.name }
}
