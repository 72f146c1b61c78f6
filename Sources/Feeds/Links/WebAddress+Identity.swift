import ByteText

extension WebAddress {
    /// What two addresses of one page have in common: to tell entries apart, never to be shown or fetched.
    ///
    /// Without user, default port, fragment and the parameters that tell where a reader came from; http counts as https,
    /// because sites change from one to the other. The order of the parameters that stay may matter, so it is kept.
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
