import ByteText
import NotificationHub

/// A device's address on its platform, as the hub keeps it. APNs tokens are hexadecimal without regard to case, and are
/// kept in upper case, as in the service. All other handles are kept as written.
public enum DeviceHandle {
    static func kept(_ handle: String, on platform: Platform?) -> String {
        platform == .apple && isHexadecimal(handle) ? handle.uppercased() : handle
    }

    /// The one or two forms in which the hub may keep a handle when its platform is not known.
    public static func spellings(of handle: String) -> [String] {
        let upper = kept(handle, on: .apple)
        return upper == handle ? [handle] : [handle, upper]
    }

    /// True if a handle of unknown platform refers to the device with the handle `kept` on `platform`.
    static func names(_ handle: String, _ kept: String, on platform: Platform) -> Bool {
        handle == kept || platform == .apple && self.kept(handle, on: .apple) == kept
    }

    /// True for the form of an APNs token: hexadecimal bytes. Tokens have no fixed length.
    static func isToken(_ handle: String) -> Bool {
        !handle.isEmpty && handle.utf8.count.isMultiple(of: 2) && isHexadecimal(handle)
    }

    private static func isHexadecimal(_ text: String) -> Bool { text.utf8.allSatisfy { $0.hexDigitValue != nil } }
}
