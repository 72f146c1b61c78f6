import NotificationHub
import Testing

@Test(arguments: [
    (
        "Endpoint=sb://News-NS.servicebus.windows.net/;SharedAccessKeyName=Send;SharedAccessKey=a+b/c==",
        "https://news-ns.servicebus.windows.net/", "news-ns.servicebus.windows.net"
    ),
    (
        " sharedaccesskey = a+b/c== ;; SHAREDACCESSKEYNAME=Send;\n endpoint=https://h:8443/a//b%20c ;",
        "https://h:8443/a/b%20c/", "h:8443"
    ),
    ("Endpoint=http://127.0.0.1;SharedAccessKeyName=Send;SharedAccessKey=a+b/c==", "http://127.0.0.1/", "127.0.0.1"),
    (
        "Endpoint=http://[::1]:8090/;SharedAccessKeyName=Send;SharedAccessKey=a+b/c==;TransportType=Amqp",
        "http://[::1]:8090/", "[::1]:8090"
    ),
    ("Endpoint=HTTP://[FE80::1]/;SharedAccessKeyName=Send;SharedAccessKey=a+b/c==", "http://[fe80::1]/", "[fe80::1]"),
    (
        "Endpoint=http://hub_1.local.:80;SharedAccessKeyName=Send;SharedAccessKey=a+b/c==", "http://hub_1.local./",
        "hub_1.local."
    ),
])
func `a connection string is read in all common forms`(text: String, endpoint: String, authority: String) throws {
    let connection = try ConnectionString(parsing: text)
    #expect(connection.endpoint.description == endpoint)
    #expect(connection.endpoint.authority == authority)
    #expect(!connection.endpoint.audience.contains("./"))
    #expect(connection.keyName == "Send")
    #expect(connection.key.revealed == "a+b/c==")
    #expect(connection.entityPath == nil)
    #expect(try ConnectionString(parsing: connection.revealed) == connection)
}

@Test func `sb and https mean port 443, and http means 80`() throws {
    #expect(try HubEndpoint(parsing: "sb://h").port == 443)
    #expect(try HubEndpoint(parsing: "sb://h:5671/").port == 5671)
    #expect(try HubEndpoint(parsing: "sb://h").scheme == .https)
    #expect(try HubEndpoint(parsing: "http://h/").port == 80)
}

@Test func `a connection string is printed in the order that every client reads`() throws {
    let text = "EntityPath=news;SharedAccessKey=k=;SharedAccessKeyName=n;Endpoint=https://h/"
    #expect(
        try ConnectionString(parsing: text).revealed
            == "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=k=;EntityPath=news")
}

private let secret = "s3cr3t+k3y/a=="

@Test(
    arguments: [
        ("", ConnectionStringProblem.empty),
        (" ; ;; ", .empty),
        (String(repeating: "x", count: 5000), .tooLong),
        ("\"Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=\(secret)\"", .quoted),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey \(secret.dropLast(2))", .partWithoutValue(number: 3)),
        (secret.dropLast(2) + ";Endpoint=sb://h/", .partWithoutValue(number: 1)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n", .missing(.key)),
        ("Endpoint=sb://h/;SharedAccessKey=\(secret)", .missing(.keyName)),
        ("SharedAccessKeyName=n;SharedAccessKey=\(secret)", .missing(.endpoint)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=", .emptyValue(.key)),
        ("Endpoint=sb://h/;SharedAccessKeyName=;SharedAccessKey=\(secret)", .emptyValue(.keyName)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=\(secret);sharedaccesskey=x", .duplicate(.key)),
        (
            "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=\(String(repeating: secret, count: 30))",
            .valueTooLong(.key)
        ),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=s3cr3t\n+k3y", .blank(.key)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessSignature=\(secret)", .otherCredential),
        ("Endpoint=h;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.scheme)),
        ("Endpoint=amqps://h/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.scheme)),
        ("Endpoint=sb:///;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.host)),
        ("Endpoint=sb://me:\(secret.prefix(6))@h/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.port)),
        ("Endpoint=sb://a..b/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.host)),
        ("Endpoint=sb://[::1/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.host)),
        ("Endpoint=sb://[::1]x/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.host)),
        ("Endpoint=sb://zürich/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.host)),
        ("Endpoint=sb://h:0/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.port)),
        ("Endpoint=sb://h:65536/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.port)),
        ("Endpoint=sb://h:/;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.port)),
        ("Endpoint=sb://h/?x=1;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.path)),
        ("Endpoint=sb://h/../x;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.path)),
        ("Endpoint=sb://h/%4;SharedAccessKeyName=n;SharedAccessKey=\(secret)", .endpoint(.path)),
        ("Endpoint=sb://h/SharedAccessKey=s3cr3t;SharedAccessKeyName=n;SharedAccessKey=x", .endpoint(.path)),
        ("Endpoint=sb://h/,s3cr3t;SharedAccessKeyName=n;SharedAccessKey=x", .endpoint(.path)),
        ("Endpoint=sb://h/,SharedAccessKeyName=n,SharedAccessKey=\(secret)", .endpoint(.path)),
        ("Endpoint=sb://h/,SharedAccessKey=\(secret);SharedAccessKeyName=n;SharedAccessKey=x", .endpoint(.path)),
        ("Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=\(secret);EntityPath=a/b", .entityPath(.character)),
    ] as [(String, ConnectionStringProblem)])
func `a wrong connection string is refused with the reason and never repeated`(
    text: String, problem: ConnectionStringProblem
) {
    #expect(throws: problem) { try ConnectionString(parsing: text) }
    var dumped = ""
    dump(problem, to: &dumped)
    for shown in ["\(problem)", String(reflecting: problem), dumped] { #expect(!shown.contains("s3cr3t")) }
    #expect(problem.description.count > 30)
}

@Test func `a connection string hides its key however it is printed`() throws {
    let connection = try ConnectionString(
        parsing: "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=\(secret);EntityPath=news")
    let rule = AccessRule(name: "n", primaryKey: connection.key, rights: .send)
    var dumped = ""
    dump([connection], to: &dumped)
    dump(rule, to: &dumped)
    for text in [
        "\(connection)", String(reflecting: connection), "\([connection])", "\(rule)", dumped,
        String(reflecting: connection.key), "\(Mirror(reflecting: connection.key).children.map(\.value))",
    ] {
        #expect(!text.contains("s3cr3t"))
    }
    #expect(
        connection.description == "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey=(hidden);EntityPath=news")
}

@Test(
    arguments: [
        ("breaking-news", nil), ("A.b_c-9", nil), (String(repeating: "x", count: 260), nil),
        ("", HubNameProblem.empty), (String(repeating: "x", count: 261), .tooLong), ("a b", .character),
        ("a/b", .character), ("..", .character), ("nachrichten-ü", .character), ("a\r\nb", .character),
    ] as [(String, HubNameProblem?)])
func `a hub's name is checked`(text: String, problem: HubNameProblem?) throws {
    if let problem {
        #expect(throws: problem) { try HubName(text) }
    } else {
        #expect(try HubName(text).text == text)
    }
}

@Test func `a send's target is below the endpoint's own path`() throws {
    let hub = try HubName("Breaking-News")
    #expect(
        HubPath(endpoint: try HubEndpoint(parsing: "sb://h"), hub: hub).send
            == "/Breaking-News/messages?api-version=2020-06")
    #expect(
        HubPath(endpoint: try HubEndpoint(parsing: "http://h/gate/way%20/"), hub: hub).send
            == "/gate/way%20/Breaking-News/messages?api-version=2020-06")
}
