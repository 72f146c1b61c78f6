import ByteText
import NewsModel

extension Platform {
    /// Bytes of a body. The hub's own limit for a template, whose result has limits of its own; else the platform's.
    var bodyLengthMax: Int {
        switch self {
        case .template: 65_536
        case .apple, .fcmv1, .gcm, .baidu, .xiaomi: 4_096
        case .windows: 5_120
        case .windowsphone: 3_072
        case .adm: 6_144
        // What is left of 4096 once it is encrypted. RFC 8291.
        case .browser: 3_993
        }
    }

    /// Bytes of the message and of the title, escaped. What the hub makes of a template must fit the 4096 bytes of
    /// Apple and Google together with what the template adds, and a body that does not fit reaches nobody.
    var textLengthMax: Int { self == .template ? 1_536 : bodyLengthMax }

    func cost(_ scalar: Unicode.Scalar) -> Int {
        switch self {
        case .windows, .windowsphone: XMLText.cost(scalar)
        default: JSONEscaping.cost(scalar)
        }
    }
}
