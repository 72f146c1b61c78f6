import ByteText

extension WebAddress {
    /// A form that equal pages share, for distinguishing entries. It must never be shown or fetched.
    ///
    /// It has no user, default port or fragment, and no parameters that track a reader's origin. The scheme is always
    /// https, because sites change from http to it. The order of the remaining parameters may matter, so it is kept.
    public var identityKey: String {
        var key = "https://" + authority + (path.isEmpty ? "/" : path)
        let parameters = (query ?? "").split(separator: "&").filter { !Self.isTracking($0) }
        if !parameters.isEmpty { key += "?" + parameters.joined(separator: "&") }
        return key
    }

    private static let trackingPrefixes = ["utm_", "at_"]
    private static let trackingNames: Set<String> = [
        "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "twclid", "yclid", "igshid", "mc_cid", "mc_eid",
        "ref",
        "ref_src", "cmpid",
    ]

    private static func isTracking(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }.asciiLowercased
        return trackingPrefixes.contains { name.hasPrefix($0) } || trackingNames.contains(name)
    }
}
