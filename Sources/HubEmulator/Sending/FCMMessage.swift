import ByteText

/// The shape that FCM v1 requires of a message, as far as a hub's client can violate it. The address members (`token`,
/// `topic`, `condition`) are not checked, because the hub sets its own.
enum FCMMessage {
    /// The members of a message that must be objects.
    private static let objects = ["notification", "data", "android", "webpush", "apns", "fcm_options", "fcmOptions"]

    static func check(_ body: JSONTree) throws(Refusal) {
        guard case .object = body, case .object(let members)? = body["message"] else {
            throw .badRequest("The notification body must be a JSON object with a 'message' object, as FCM v1 requires")
        }
        for member in members where objects.contains(member.name) && member.value != .null {
            guard case .object(let inner) = member.value else {
                throw .badRequest("'message.\(member.name)' must be a JSON object")
            }
            guard member.name == "data" else { continue }
            for pair in inner where pair.value.string == nil {
                throw .badRequest("'message.data.\(pair.name.cut(toBytes: 120))' must be a string")
            }
        }
    }
}
