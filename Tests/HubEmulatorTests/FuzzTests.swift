import ByteText
import NotificationHub
import TestSupport
import Testing

@testable import HubEmulator

/// Mutated requests from a seed. The hub must answer all of them without a trap.
struct FuzzTests {
    private static let seeds: [(String, String, HubHeaders, String)] = [
        (
            "POST", "/messages?api-version=2020-06",
            ["Content-Type": "application/json", "ServiceBusNotification-Tags": "(a&&!b)||$UserId:{x}"],
            #"{"messageParam":"Breaking \u00e9\ud83d\ude00","n":"1e5"}"#
        ),
        (
            "POST", "/messages?test",
            ["Content-Type": "application/xml", "ServiceBusNotification-Format": "windows", "X-WNS-Type": "wns/toast"],
            "<?xml version=\"1.0\"?><toast launch=\"&#x41;\"><![CDATA[x]]><text id='1'>a&amp;b</text></toast>"
        ),
        (
            "POST", "/messages/$batch?direct",
            ["Content-Type": "multipart/mixed; boundary=b", "ServiceBusNotification-Format": "apple"],
            "--b\r\nContent-Disposition: inline; name=notification\r\n\r\n{}\r\n--b\r\nContent-Disposition: inline; name=devices\r\n\r\n[\"h\"]\r\n--b--\r\n"
        ),
        (
            "POST", "/schedulednotifications",
            ["Content-Type": "application/json", "ServiceBusNotification-ScheduleTime": "2027-01-15T09:00:00+01:00"],
            "{}"
        ),
        (
            "PUT", "/registrations/1-2-3", ["If-Match": "W/\"1\""],
            WireTable.entry(
                "AppleTemplate",
                "<Tags>a,b</Tags><DeviceToken>AB</DeviceToken><BodyTemplate>{\"a\":\"{$(x:{d},3) + 'q'}\"}</BodyTemplate><Expiry>0</Expiry>"
            )
        ),
        ("GET", "/registrations?$top=3&$filter=ChannelUri+eq+'AB'&continuationtoken=MTtu", [:], ""),
        (
            "PUT", "/installations/i", [:],
            ##"{"platform":"apns","pushChannel":"AB","tags":["a"],"expirationTime":"2030-01-01T00:00:00.1Z","templates":{"t":{"body":"{\"a\":\"#(n)\"}"}}}"##
        ),
        (
            "PATCH", "/installations/i", [:],
            #"[{"op":"add","path":"/templates/t/headers","value":{"apns-priority":"5"}},{"op":"remove","path":"/tags/a"}]"#
        ),
        ("GET", "/messages/a-20270115080000-1-2", [:], ""), ("DELETE", "/installations/i", [:], ""),
    ]

    @Test(arguments: 1...8)
    func `no request traps the hub, whatever its bytes`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var test = try TestHub {
            $0.messagesKept = 50; $0.deliveriesKept = 50
        }
        for _ in 0..<1500 {
            let (method, path, headers, body) = Self.seeds[Int(random.next() % UInt64(Self.seeds.count))]
            var mutated = HubHeaders()
            for field in headers.fields {
                let name = random.next() % 16 == 0 ? text(field.name, &random) : field.name
                mutated.append(name, text(field.value, &random))
            }
            let target = random.next() % 4 == 0 ? text(path, &random) : path
            let reply = test.call(method, target, headers: mutated, bytes: mutate(Array(body.utf8), &random))
            #expect(200..<600 ~= reply.status)
            if random.next() % 8 == 0 { _ = test.hub.deliver(limit: 5, at: test.now) }
        }
        _ = test.hub.deliver(limit: 10_000, at: test.now)
        #expect(test.hub.received.count <= 50)
    }

    /// Calls of a namespace: hubs, jobs and storage.
    private static func namespaceSeeds(_ container: String) -> [(String, String, HubHeaders, String)] {
        let path = String(container.dropFirst("http://news.example".count))
        let blob = path.replacing("?", with: "/a/b.txt?", maxReplacements: 1)
        let rules =
            "<RegistrationTtl>P90D</RegistrationTtl><AuthorizationRules><AuthorizationRule i:type=\"x\"><Rights>"
            + "<AccessRights>Send</AccessRights></Rights><KeyName>k</KeyName><PrimaryKey>p</PrimaryKey>"
            + "</AuthorizationRule></AuthorizationRules><GcmCredential><P a=\"b\">c</P></GcmCredential>"
        let hub =
            "<entry><content><NotificationHubDescription>\(rules)</NotificationHubDescription></content></entry>"
        let importing = WireTable.job(
            "ImportUpsertRegistrations", output: container,
            input: container.replacing("?", with: "/a/b.txt?", maxReplacements: 1))
        let line =
            "<AppleRegistrationDescription><RegistrationId>1-2-3</RegistrationId><Tags>a</Tags>"
            + "<DeviceToken>AB</DeviceToken></AppleRegistrationDescription>\n"
        return [
            ("PUT", "/sports?api-version=2017-04", [:], hub), ("PUT", "/BreakingNews", ["If-Match": "*"], hub),
            ("DELETE", "/sports", [:], ""), ("GET", "/$Resources/NotificationHubs?$skip=1&$top=2", [:], ""),
            ("GET", "/", [:], ""), ("POST", "/BreakingNews/jobs", [:], importing),
            ("POST", "/sports/jobs", [:], WireTable.job("ExportRegistrations", output: container)),
            ("GET", "/BreakingNews/jobs", [:], ""), ("GET", "/BreakingNews/feedbackcontainer", [:], ""),
            ("PUT", blob, ["x-ms-blob-type": "BlockBlob"], line + line),
            ("GET", blob, ["x-ms-range": "bytes=2-40"], ""),
            ("GET", path + "&restype=container&comp=list&prefix=a&maxresults=3", [:], ""), ("DELETE", blob, [:], ""),
            ("POST", "/BreakingNews/messages", WireTable.alert, "{}"),
        ]
    }

    @Test(arguments: 1...8)
    func `no request traps the namespace, its jobs or its storage`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var test = try TestNamespace()
        let expires = test.now.advanced(byMilliseconds: 3_600_000)
        let seeds = Self.namespaceSeeds(test.namespace.jobsContainerURL(base: "http://news.example", until: expires))
        for _ in 0..<800 {
            let (method, path, headers, body) = seeds[Int(random.next() % UInt64(seeds.count))]
            var mutated = HubHeaders()
            for field in headers.fields { mutated.append(field.name, text(field.value, &random)) }
            mutated.append("Host", "news.example")
            mutated.append("Authorization", TestHub.token(rule: EmulatedNamespace.ruleName, key: TestNamespace.root))
            let target = random.next() % 4 == 0 ? text(path, &random) : path
            let bytes = random.next() % 2 == 0 ? mutate(Array(body.utf8), &random) : Array(body.utf8)
            let reply = test.namespace.handle(
                HubHTTPRequest(method: method, target: target, headers: mutated, body: bytes), at: test.now)
            #expect(200..<600 ~= reply.status)
            if random.next() % 4 == 0 { _ = test.namespace.deliver(limit: 3, at: test.now) }
        }
        for _ in 0..<1000 where test.namespace.hasWork(at: test.now) {
            _ = test.namespace.deliver(limit: 100, at: test.now)
        }
        #expect(!test.namespace.hasWork(at: test.now))
    }

    @Test
    func `deep and wrongly encoded bodies are refused by every new call`() throws {
        var test = try TestNamespace()
        let deep = String(repeating: "<a>", count: 20_000)
        for body in [deep, "<entry><content>" + deep, "\u{0}", String(repeating: "<", count: 60_000)] {
            for (method, path) in [("PUT", "/sports"), ("POST", "/BreakingNews/jobs")] {
                #expect(test.call(method, path, body: body).status == 400)
            }
        }
        let latin = HubHTTPRequest(
            method: "PUT", target: "/sports",
            headers: [
                "Host": "news.example",
                "Authorization": TestHub.token(rule: EmulatedNamespace.ruleName, key: TestNamespace.root),
            ], body: [0x3C, 0xE9, 0x3E])
        #expect(test.namespace.handle(latin, at: test.now).status == 400)
    }

    @Test(arguments: 1...4)
    func `no token traps the hub`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        var test = try TestHub()
        for _ in 0..<500 {
            let token = text(TestHub.token(), &random)
            let reply = test.call("POST", "/messages", headers: ["Authorization": token], body: "{}")
            #expect(reply.status == 401 || reply.status == 400)
        }
    }

    @Test(arguments: 1...4)
    func `no template expression or fault traps`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let expressions = ["{'a' + $(b,3) + .(c:{x\\}},9)}", "%(name)", "#(n)", "$(a) + $(b)"]
        let properties = TemplateProperties([TemplateProperty(name: "b", value: "é😀é")])
        for _ in 0..<5000 {
            let source = expressions[Int(random.next() % 4)]
            let text = text(source, &random)
            if let expression = try? TemplateExpression.parse(text) {
                _ = expression.text(properties, lengthMax: Int(random.next() % 9))
            }
            _ = HubTime(clientText: text)
        }
        for _ in 0..<1000 {
            let bytes = mutate(
                Array(#"{"status":503,"retryAfter":2,"share":0.5,"next":2,"slowBody":9,"latencyMs":1}"#.utf8), &random)
            if let json = JSONTree(parsing: bytes) { _ = try? HubFault(json: json) }
        }
    }

    @Test(arguments: 1...4)
    func `whatever properties a template expands, its JSON or XML stays valid`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let sources: [(String, Platform)] = [
            (##"{"aps":{"alert":"$(a)","badge":"#(n)"},"x":[".(a,5)","{'“' + $(b:{d}) + 'z'}"]}"##, .apple),
            ("<toast launch=\"$(a)\"><visual><text id='1'>{'&lt;' + %(b)}</text></visual></toast>", .windows),
        ]
        var expanded = 0
        for round in 0..<4000 {
            let (source, platform) = sources[round % 2]
            var headers: [HeaderField] = []
            if platform == .windows {
                headers = [HeaderField("X-WNS-Type", "wns/toast"), HeaderField("X-WNS-Tag", text("$(a)", &random))]
            }
            guard
                let template = try? Template(
                    TemplateSource(body: text(source, &random), headers: headers, platform: platform))
            else { continue }
            let properties = TemplateProperties([
                TemplateProperty(name: "a", value: text(#"</a>"},{'$(b)' + "]]>&"#, &random)),
                TemplateProperty(name: "n", value: text("1e5", &random)),
            ])
            guard let (body, fields) = template.expanded(properties) else { continue }
            if platform == .apple { _ = try JSONReader.read(body) } else { _ = try XMLReader.read(body) }
            #expect(fields.allSatisfy { !$0.value.utf8.contains { $0 == 10 || $0 == 13 } })
            expanded += 1
        }
        #expect(expanded > 500)
    }

    @Test(arguments: 1...4)
    func `a tag expression is refused, or its index agrees with it`(seed: Int) {
        var random = SeededRandom(seed: UInt64(seed))
        let tokens = ["a", "B", "c:d", "$UserId:{x y}", "!", "&&", "||", "(", ")", " ", "é", "$", "&", "{", "}"]
        var understood = 0
        for _ in 0..<20_000 {
            let header = (0...random.next() % 9).map { _ in
                // Most tokens are those of expressions.
                tokens[Int(random.next() % (random.next() % 4 == 0 ? 15 : 9))]
            }.joined()
            guard case .tagged(let expression)? = try? Audience(tagsHeader: header) else { continue }
            let query = TagQuery(expression)
            let cover = query.cover(counts: query.tags.map { _ in Int(random.next() % 5) })
            for mask in 0..<UInt32(1 << query.tags.count) {
                let held = Set(query.tags.indices.filter { mask >> UInt32($0) & 1 == 1 }.map { query.tags[$0] })
                #expect(query.matches(mask) == expression.matches(held), "\(header)")
                if let cover, query.matches(mask) { #expect(mask & cover != 0, "\(header)") }
            }
            understood += 1
        }
        #expect(understood > 500)
    }

    @Test(arguments: 1...4)
    func `JSON, XML and batches keep their meaning when written again`(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let batch = Self.seeds[2]
        for _ in 0..<5000 {
            let json = mutate(Array(#"{"a":[1,-0.5e+3,true,null,{"b":"\u00e9\ud83d\ude00\\"}],"":{}}"#.utf8), &random)
            if let value = try? JSONReader.read(json) { #expect(try JSONReader.read(value.bytes).bytes == value.bytes) }
            let xml = mutate(
                Array("<?xml version='1.0'?><n:a k='&lt;&#x41;'>t&amp;<b/><![CDATA[<&>]]></n:a>".utf8), &random)
            if let element = try? XMLReader.read(xml) {
                #expect(try XMLReader.read(Array(element.markup.utf8)).markup == element.markup)
            }
            let type = text(batch.2["Content-Type"] ?? "", &random)
            if let read = try? MultipartBatch.read(mutate(Array(batch.3.utf8), &random), contentType: type) {
                #expect(read.handles.count <= MultipartBatch.handlesMax)
            }
        }
    }

    private func text(_ text: String, _ random: inout SeededRandom) -> String {
        String(decoding: mutate(Array(text.utf8), &random), as: UTF8.self)
    }

    private func mutate(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        let interesting = Array("{}[]()<>\"'\\&|!$#%.,:;+-=/ \r\n0\u{0}é".utf8) + [0xFF, 0xC0]
        for _ in 0..<Int(random.next() % 4) where !bytes.isEmpty {
            let at = Int(random.next() % UInt64(bytes.count))
            switch random.next() % 5 {
            case 0: bytes.remove(at: at)
            case 1: bytes[at] = interesting[Int(random.next() % UInt64(interesting.count))]
            case 2: bytes.insert(interesting[Int(random.next() % UInt64(interesting.count))], at: at)
            case 3: bytes.removeLast(bytes.count - at)
            default: bytes.insert(contentsOf: bytes[at...].prefix(20), at: at)
            }
        }
        return bytes
    }
}
