/// Addresses on the web.
enum WebAddress {
    /// The absolute http or https address that a reference means at `base`; `nil` when it is none.
    static func resolve(_ reference: String, base: String) -> String? {
        reference.hasPrefix("http://") || reference.hasPrefix("https://") ? reference : nil
    }
}
