import KafkaIO
import NewswireSettings
import Testing

@Test(arguments: [
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenEndpoint: \"https://a/t\", clientSecret: s}}",
        "kafka.oauth.clientId: is missing; write what the identity provider has"
    ),
    ("kafka: {bootstrapServers: [\"a:1\"], oauth: {clientId: a}}", "kafka.oauth.tokenEndpoint: is missing"),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenEndpoint: \"a/t\", clientId: a, clientSecret: s}}",
        "kafka.oauth.tokenEndpoint: is not an address that issues tokens"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenEndpoint: \"https://u:p@a/\", clientId: a, clientSecret: s}}",
        "kafka.oauth.tokenEndpoint: is not an address"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenFile: /t, tokenEndpoint: \"https://a/t\"}}",
        "kafka.oauth.tokenFile: stands beside kafka.oauth.tokenEndpoint"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenFile: /t, scope: s}}",
        "kafka.oauth.scope: has no use with kafka.oauth.tokenFile"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenFile: /t, extensions: {auth: x}}}",
        "kafka.oauth.extensions.auth: is not a valid SASL extension"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenFile: /t, extensions: {pool: \"a\\nb\"}}}",
        "kafka.oauth.extensions.pool: is not a valid SASL extension"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenFile: /t}, properties: {sasl.mechanisms: PLAIN}}",
        "kafka.properties.sasl.mechanisms: contradicts kafka.oauth"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenFile: /t}, properties: {security.protocol: SSL}}",
        "kafka.properties.security.protocol: does not log in"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], properties: {sasl.mechanisms: OAUTHBEARER}}",
        "kafka.properties.sasl.mechanisms: needs a source of tokens"
    ),
    (
        "kafka: {bootstrapServers: [\"a:1\"], oauth: {tokenEndpoint: \"https://a/t\", clientId: a, clientSecret: CHANGE_ME}}",
        "kafka.oauth.clientSecret: still holds the placeholder"
    ),
])
func `a mistake in the login to Kafka is reported at its place`(yaml: String, expected: String) {
    let kept = minimal().split(separator: "\n").filter { !$0.hasPrefix("kafka:") }.joined(separator: "\n")
    let loaded = LoadedSettings(kept + "\n" + yaml)
    #expect(loaded.settings == nil)
    #expect(lines(loaded).count == 1 && lines(loaded).first?.contains(expected) == true, "\(lines(loaded))")
}

@Test func `tokens log in with OAUTHBEARER over TLS unless the properties say otherwise`() throws {
    func read(_ more: String) throws -> KafkaSettings {
        let loaded = LoadedSettings(minimal().replacing("kafka: {", with: "kafka: {\(more), "))
        #expect(lines(loaded) == [])
        return try #require(loaded.settings).kafkaSettings
    }
    let kafka = try read(
        #"oauth: {tokenEndpoint: "https://a:1/t?p=1", clientId: me, clientSecret: canary, scope: s, extensions: {pool: p}}"#
    )
    #expect(kafka.properties == ["security.protocol": "SASL_SSL", "sasl.mechanisms": "OAUTHBEARER"])
    let endpoint = TokenSource.Endpoint(url: "https://a:1/t?p=1", clientID: "me", secret: "canary", scope: "s")
    #expect(kafka.login.source == TokenSource(.endpoint(endpoint), extensions: ["pool": "p"]))
    let file = try read("oauth: {tokenFile: /t}, properties: {security.protocol: SASL_PLAINTEXT}")
    #expect(file.properties["security.protocol"] == "SASL_PLAINTEXT" && file.login.source == TokenSource(.file("/t")))
    #expect(try read("instance: a").login.source == nil)
}

@Test func `a secret that would be sent unencrypted is a warning`() {
    let more = #"oauth: {tokenEndpoint: "http://HOST/t", clientId: a, clientSecret: s}, "#
    for (host, isWarning) in [("idp", true), ("127.0.0.1:80", false), ("localhost", false), ("localhost.evil", true)] {
        let text = minimal().replacing("kafka: {", with: "kafka: {" + more.replacing("HOST", with: host))
        #expect(LoadedSettings(text).problems.map(\.message) == (isWarning ? ["sends the secret unencrypted"] : []))
    }
}
