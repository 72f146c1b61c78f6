/// The target of a delivery. The raw value is the hub's `ServiceBusNotification-Format`.
public enum Platform: String, CaseIterable, Codable, Sendable, Hashable {
    /// One payload that the hub expands through each device's own template.
    case template
    case apple, fcmv1, gcm, windows, windowsphone, adm, baidu, browser, xiaomi
}
