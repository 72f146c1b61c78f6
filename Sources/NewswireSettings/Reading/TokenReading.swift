import KafkaIO

extension TokenSource {
    /// - Returns: `nil` without `kafka.oauth`, or if it has a problem.
    init?(_ reader: inout SettingsReader) {
        let group: SettingsPath = "kafka.oauth"
        let (url, file) = (reader.text(group / "tokenEndpoint"), reader.text(group / "tokenFile"))
        let client = ["clientId", "clientSecret", "scope", "trustRoots"].map { ($0, reader.text(group / $0)) }
        let extensions = reader.names(under: group / "extensions").map {
            ($0, reader.text(group / "extensions" / $0) ?? "")
        }
        guard url != nil || file != nil || client.contains(where: { $0.1 != nil }) || !extensions.isEmpty else {
            return nil
        }
        for (name, value) in extensions where !Self.isExtension(name, value) {
            reader.report(
                group / "extensions" / name, "is not a valid SASL extension", "use letters in the name, and plain ASCII"
            )
        }
        let origin: Origin
        switch (url, file) {
        case (let url?, nil):
            guard let endpoint = Endpoint(url, client.map(\.1), group, &reader) else { return nil }
            origin = .endpoint(endpoint)
        case (nil, let file?):
            for (name, value) in client where value != nil {
                reader.report(group / name, "has no use with kafka.oauth.tokenFile", "remove one of both")
            }
            origin = .file(file)
        case (nil, nil):
            reader.report(group / "tokenEndpoint", "is missing", "write the address that issues tokens")
            return nil
        case (_?, _?):
            reader.report(group / "tokenFile", "stands beside kafka.oauth.tokenEndpoint", "remove one of both")
            return nil
        }
        self.init(origin, extensions: Dictionary(extensions) { $1 })
    }

    /// RFC 7628 §3.1, without line breaks.
    private static func isExtension(_ name: String, _ value: String) -> Bool {
        let isName = name != "auth" && name.allSatisfy { $0.isASCII && $0.isLetter }
        return isName && value.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }
    }
}

extension TokenSource.Endpoint {
    /// - Parameter client: id, secret, scope and trust roots.
    fileprivate init?(_ url: String, _ client: [String?], _ group: SettingsPath, _ reader: inout SettingsReader) {
        let path = group / "tokenEndpoint"
        guard SettingsReader.isHTTP(url, without: "@#") else {
            reader.report(
                path, "is not an address that issues tokens", "write e.g. https://login.example/oauth2/v2.0/token")
            return nil
        }
        let isLocal = ["127.0.0.1", "localhost", "[::1]"].contains {
            url.hasPrefix("http://\($0):") || url.hasPrefix("http://\($0)/")
        }
        if url.hasPrefix("http://"), !isLocal {
            reader.report(path, "sends the secret unencrypted", "write https://", severity: .warning)
        }
        for (name, value) in zip(["clientId", "clientSecret"], client) where value == nil {
            reader.report(group / name, "is missing", "write what the identity provider has for this program")
        }
        guard let id = client[0], let secret = client[1] else { return nil }
        self.init(url: url, clientID: id, secret: secret, scope: client[2], trustRoots: client[3])
    }
}

extension SettingsReader {
    /// True for an address of a web service without these characters.
    static func isHTTP(_ url: String, without characters: String) -> Bool {
        let rest = ["https://", "http://"].first(where: url.hasPrefix).map { url.dropFirst($0.count) }
        guard let rest, let first = rest.first, first != "/" else { return false }
        return !rest.contains { $0.isWhitespace || !$0.isASCII || characters.contains($0) }
    }
}

extension Settings {
    /// Checks that tokens and librdkafka's properties go together.
    func checkLogin(_ reader: inout SettingsReader) {
        func property(_ names: String...) -> SecretField? { kafkaProperties.last { names.contains($0.name) } }
        let mechanism = property("sasl.mechanisms", "sasl.mechanism")
        let usesTokens = mechanism?.value.revealed.uppercased() == "OAUTHBEARER"
        if kafka.login.source != nil {
            if let mechanism, !usesTokens {
                reader.report(
                    "kafka.properties" / mechanism.name, "contradicts kafka.oauth, whose tokens need OAUTHBEARER",
                    "remove one of both")
            }
            if let security = property("security.protocol"), !security.value.revealed.uppercased().hasPrefix("SASL_") {
                reader.report(
                    "kafka.properties.security.protocol", "does not log in, so kafka.oauth has no use", "write SASL_SSL"
                )
            }
        } else if let mechanism, usesTokens, reader.isSound("kafka.oauth"),
            property("sasl.oauthbearer.method", "enable.sasl.oauthbearer.unsecure.jwt") == nil
        {
            reader.report(
                "kafka.properties" / mechanism.name, "needs a source of tokens",
                "write kafka.oauth: {tokenEndpoint: …, clientId: …, clientSecret: …}")
        }
    }
}
