import NotificationHub
import Testing

@testable import HubEmulator

struct TemplateTests {
    private static let properties = TemplateProperties([
        TemplateProperty(name: "title", value: "This is the title line"), TemplateProperty(name: "n", value: "42"),
        TemplateProperty(name: "msg", value: "Storm \"Ada\" & <rain>"), TemplateProperty(name: "emoji", value: "a😀b"),
        TemplateProperty(name: "first", value: "Ada"), TemplateProperty(name: "last", value: "Lovelace"),
    ])

    private static let meanings: [(String, String)] = [
        ("$(title)", "This is the title line"), ("$(TITLE)", "This is the title line"), ("$(nope)", ""),
        ("$(title,4)", "This"), ("$(title,0)", ""), (".(title,20)", "This is the title..."),
        (".(title,40)", "This is the title line"), (".(title,2)", "Th"),
        ("%(msg)", "Storm%20%22Ada%22%20%26%20%3Crain%3E"),
        ("{'Breaking: ' + $(title)}", "Breaking: This is the title line"),
        ("{$(first) + ' ' + $(last)}", "Ada Lovelace"),
        ("$(first) + $(last)", "AdaLovelace"), ("{'it''s ' + \"\"\"x\"\"\"}", "it's \"x\""), ("{'#000000'}", "#000000"),
        ("$( title , 4 )", "This"), ("$(nope:{none})", "none"), ("$(nope:{a\\}b})", "a}b"),
        ("$(title:{x})", "This is the title line"),
        ("$(emoji,2)", "a"), ("$(emoji,3)", "a😀"), ("#(n)", "42"), ("{ $(n) }", "42"),
    ]

    @Test(arguments: meanings)
    func `expressions are expanded as documented`(value: String, meaning: String) throws {
        let expression = try #require(try TemplateExpression.parse(value))
        #expect(expression.text(Self.properties, lengthMax: 4096) == meaning)
    }

    @Test(arguments: ["Breaking: $(title)", "", " $(title)", "'x'", "plain", "Ünïcode"])
    func `values with another first character are literal`(value: String) throws {
        #expect(try TemplateExpression.parse(value) == nil)
    }

    @Test(arguments: [
        "#000000", "$5", ".hidden", "{x}", "%", "$body", "$(a", "$()", "$(a b)", ".(title)", "%(title,3)", "#(n,3)",
        "{$(a) + #(n)}", "{''}", "{$(a) + ''}", "$(a) $(b)", "$(a,x)", "$(a,-1)", "{$(a)", "$(ö)", "$(a:b)", "$(a:{b)",
        "$(" + String(repeating: "n", count: 121) + ")",
    ])
    func `an invalid expression makes the template invalid`(value: String) {
        #expect(throws: TemplateProblem.self) { try TemplateExpression.parse(value) }
    }

    @Test(arguments: [
        ("0", true), ("42", true), ("1.5", true), ("1e9", true), ("1.0E-3", true), ("-1", false), ("01", false),
        ("", false), ("1.", false), ("x", false), ("1e", false),
    ])
    func `numbers are recognised as in the clients`(text: String, isNumber: Bool) {
        #expect(TemplateExpression.isNumber(text) == isNumber)
    }

    private static let bodies: [(String, String)] = [
        (#"{"aps":{"alert":"$(msg)"}}"#, #"{"aps":{"alert":"Storm \"Ada\" & <rain>"}}"#),
        (##"{"badge":"#(n)","t":"#(title)"}"##, #"{"badge":42,"t":"This is the title line"}"#),
        (#"{"$(title)":1,"a":["$(n)",true]}"#, #"{"$(title)":1,"a":["42",true]}"#),
        (
            "<toast launch=\"$(n)\"><text id=\"1\">$(msg)</text><text>x $(n)</text></toast>",
            "<toast launch=\"42\"><text id=\"1\">Storm &quot;Ada&quot; &amp; &lt;rain&gt;</text><text>x $(n)</text></toast>"
        ),
    ]

    @Test(arguments: bodies)
    func `a body is expanded inside its own syntax`(source: String, result: String) throws {
        let headers = [HeaderField("X-WNS-Type", "wns/toast")]
        let template = try Template(TemplateSource(body: source, headers: headers, platform: .windows))
        let expanded = try #require(template.expanded(Self.properties))
        #expect(String(decoding: expanded.body, as: UTF8.self) == result)
    }

    @Test
    func `header values are expanded on one line`() throws {
        let template = try Template(
            TemplateSource(
                body: "{}", name: "t", headers: [HeaderField("apns-collapse-id", "$(id)")], expiry: "0",
                platform: .apple))
        let properties = TemplateProperties([TemplateProperty(name: "ID", value: "a\r\nEvil: b")])
        let expanded = try #require(template.expanded(properties))
        #expect(
            expanded.headers == [
                HeaderField("apns-collapse-id", "aEvil: b"), HeaderField("ServiceBusNotification-Apns-Expiry", "0"),
            ])
    }

    @Test
    func `a body as long as the platform's limit is expanded, and a longer one is not`() throws {
        let template = try Template(TemplateSource(body: #"{"a":"$(x)"}"#, platform: .apple))
        func length(_ count: Int) -> Int? {
            let value = String(repeating: "x", count: count)
            return template.expanded(TemplateProperties([TemplateProperty(name: "x", value: value)]))?.body.count
        }
        let fixed = #"{"a":""}"#.utf8.count
        #expect(length(4096 - fixed) == 4096)
        #expect(length(4097 - fixed) == nil)
    }

    @Test
    func `expressions that together are longer than the limit are not expanded`() throws {
        let value = String(repeating: "x", count: 3000)
        let properties = TemplateProperties([TemplateProperty(name: "x", value: value)])
        let many = Array(repeating: "$(x)", count: 3000)
        let bodies = [
            #"{"a":["\#(many.joined(separator: #"",""#))"]}"#,
            #"{"a":"{\#(many.joined(separator: " + "))}"}"#,
            "<a><b>\(many.joined(separator: "</b><b>"))</b></a>",
        ]
        for body in bodies {
            let headers = [HeaderField("X-WNS-Type", "wns/raw")]
            let template = try Template(TemplateSource(body: body, headers: headers, platform: .windows))
            #expect(template.expanded(properties)?.body == nil)
        }
        let headers = (0..<50).map { HeaderField("apns-\($0)", "$(x)") }
        let template = try Template(TemplateSource(body: "{}", headers: headers, platform: .apple))
        #expect(template.expanded(properties)?.body == nil)
    }

    @Test
    func `sent properties override push variables`() {
        let variables = [TemplateProperty(name: "lang", value: "en"), TemplateProperty(name: "a", value: "variable")]
        let properties = TemplateProperties([TemplateProperty(name: "A", value: "sent")], variables: variables)
        #expect(properties["a"] == "sent" && properties["lang"] == "en")
    }

    private static let invalid: [(String, [HeaderField], String?, Platform)] = [
        ("text", [], nil, .apple), ("[1]", [], nil, .apple), ("{", [], nil, .apple), ("<a>", [], nil, .windows),
        (#"{"a":"{x}"}"#, [], nil, .apple), ("<toast/>", [], nil, .windows),
        ("{}", [HeaderField("X-Other", "1")], nil, .apple), ("{}", [HeaderField("apns-priority", "high")], nil, .apple),
        ("{}", [HeaderField("apns-expiration", "soon")], nil, .apple), ("{}", [], "", .apple),
        ("{}", [], "soon", .apple),
    ]

    @Test(arguments: invalid)
    func `templates that the service refuses are refused`(
        source: String, headers: [HeaderField], expiry: String?, platform: Platform
    ) {
        #expect(throws: TemplateProblem.self) {
            try Template(TemplateSource(body: source, headers: headers, expiry: expiry, platform: platform))
        }
    }
}
