import ByteText
import NewsModel

extension Platform {
    /// The limit of a body in bytes: the hub's for a template (its result has more limits), else the platform's.
    var bodyLengthMax: Int {
        switch self {
        case .template: 65_536
        case .apple, .fcmv1, .gcm, .baidu, .xiaomi: 4_096
        case .windows: 5_120
        case .windowsphone: 3_072
        case .adm: 6_144
        // 4096 less the encryption's overhead. RFC 8291.
        case .browser: 3_993
        }
    }

    /// Bytes of the message and of the title, escaped. The hub's rendering of a template must fit
    /// into the 4096 bytes of Apple and Google, and one that does not fit reaches no phone.
    var textLengthMax: Int { self == .template ? 1_536 : bodyLengthMax }

    func cost(_ scalar: Unicode.Scalar) -> Int {
        switch self {
        case .windows, .windowsphone: XMLText.cost(scalar)
        default: JSONEscaping.cost(scalar)
        }
    }
}
