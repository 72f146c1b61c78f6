import Testing

@testable import NewswireSettings

@Test(arguments: [
    ("plain $ and $(x)", "plain $ and $(x)"),
    ("${A}", "1"), ("a${A}b${A}c", "a1b1c"), ("$${A}", "${A}"), ("$$${A}", "$${A}"),
    ("${file:/secret}", "line"), ("x${file:/secret}y", "xliney"), ("${file:/two}", "a\nb"),
])
func `references in a value are replaced`(text: String, expected: String) throws {
    let files = ["/secret": "line\n", "/two": "a\nb\r\n"]
    let interpolation = SettingsInterpolation(environment: ["A": "1"]) { path in
        files[path].map { .success($0) } ?? .failure(.missing)
    }
    #expect(try interpolation.expand(text).text == expected)
}

@Test(arguments: [
    ("${A", "'${' without a '}'"), ("${}", "'${}' is neither ${NAME} nor ${file:PATH}"),
    ("${A:-b}", "'${A:-b}' is neither ${NAME} nor ${file:PATH}"), ("${B}", "the environment variable B is not set"),
    ("${file:/none}", "the file /none does not exist"),
])
func `a reference that cannot be filled in is reported`(text: String, message: String) {
    let interpolation = SettingsInterpolation(environment: ["A": "1"]) { _ in .failure(.missing) }
    #expect { try interpolation.expand(text) } throws: { ($0 as? SettingsInterpolation.Failure)?.message == message }
}

@Test(
    arguments: [
        ("500ms", 500), ("30s", 30_000), ("15m", 900_000), ("2h", 7_200_000), ("1d", 86_400_000), ("1h30m", 5_400_000),
        ("0s", 0), ("", nil), ("15", nil), ("m", nil), ("-1s", nil), ("1.5s", nil), ("1 s", nil), ("1y", nil),
        ("99999999999999999999s", nil), ("9223372036854775807d", nil), ("9223372036854775807ms1ms", nil),
    ] as [(String, Int?)])
func `a duration is read in milliseconds, and other texts are refused`(text: String, milliseconds: Int?) {
    #expect(SettingsValue.duration(text) == milliseconds.map { .milliseconds($0) })
}

@Test(
    arguments: [
        ("64MiB", 67_108_864), ("1", 1), ("10kB", 10_000), ("2GiB", 2_147_483_648), ("", nil), ("MiB", nil),
        ("1TiB", nil),
        ("9223372036854775807GiB", nil), ("-1", nil), ("١MiB", nil),
    ] as [(String, Int?)])
func `a size is read in bytes, and other texts are refused`(text: String, bytes: Int?) {
    #expect(SettingsValue.size(text) == bytes)
}

@Test(arguments: [("0%", 0), ("100%", 100), ("101%", 101), ("10", nil), ("%", nil), ("-1%", nil)] as [(String, Int?)])
func `a whole percentage is read, and other texts are refused`(text: String, value: Int?) {
    #expect(SettingsValue.percent(text) == value)
}

@Test(
    arguments: [
        ("127.0.0.1:9464", "127.0.0.1:9464"), ("[::1]:80", "[::1]:80"), ("broker.example:0", "broker.example:0"),
        ("::1:80", nil), (":80", nil), ("a:65536", nil), ("a:-1", nil), ("a", nil), ("http://a:1", nil), ("a,b:1", nil),
        ("999.1.1.1:80", nil), ("127.0.0:80", nil), ("1.2.3.4.5:80", nil), ("[::1::2]:80", nil),
        ("[127.0.0.1]:80", "127.0.0.1:80"),
        ("[fe80::1%eth0]:80", "[fe80::1%eth0]:80"), ("kafka-0.kafka:9092", "kafka-0.kafka:9092"),
        ("4chan.org:80", "4chan.org:80"),
    ] as [(String, String?)])
func `a host and port are read, and other texts are refused`(text: String, expected: String?) {
    #expect(NetworkAddress(text)?.description == expected)
}
