import ByteText
import NotificationHub
import Testing

import struct NotificationHub.Tag

extension SeededRandom {
    /// Corrupts a valid text: pieces are removed, doubled or replaced by unusual ones.
    fileprivate mutating func spoil(_ seeds: [String], with pieces: [String]) -> String {
        var scalars = Array((seeds.randomElement(using: &self) ?? "").unicodeScalars)
        for _ in 0..<Int.random(in: 0...6, using: &self) {
            let at = Int.random(in: 0...scalars.count, using: &self)
            let end = min(scalars.count, at + Int.random(in: 0...8, using: &self))
            switch Int.random(in: 0..<4, using: &self) {
            case 0: scalars.removeSubrange(at..<end)
            case 1: scalars.insert(contentsOf: scalars[at..<end], at: at)
            case 2: scalars.insert(contentsOf: (pieces.randomElement(using: &self) ?? "").unicodeScalars, at: at)
            default: scalars.insert(Unicode.Scalar(UInt8.random(in: 0...255, using: &self)), at: at)
            }
        }
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        return text
    }
}

private let seeds = Array(UInt64(1)...8)
private let turns = 1500

@Test(arguments: seeds)
func `a corrupted connection string is refused, or printed back without its key`(seed: UInt64) throws {
    var chance = SeededRandom(seed: seed)
    for _ in 0..<turns {
        let text = chance.spoil(
            [
                "Endpoint=sb://ns.servicebus.windows.net/;SharedAccessKeyName=Rule;SharedAccessKey=Zq9+/Zq9=",
                "SharedAccessKey=Zq9Zq9;Endpoint=http://[::1]:80/a;SharedAccessKeyName=R;EntityPath=h",
            ], with: [";", "=", "://", "[", "]", "%", "\r\n", "\u{301}", "Endpoint=", ":65536", "🗞"])
        do {
            let connection = try ConnectionString(parsing: text)
            #expect(try ConnectionString(parsing: connection.revealed) == connection)
            #expect(connection.endpoint.description.utf8.allSatisfy { (0x21...0x7E).contains($0) })
        } catch {
            #expect(!"\(error)".contains("Zq9"))
        }
    }
}

@Test(arguments: seeds)
func `a corrupted expression is refused at a position in its text, or printed back`(seed: UInt64) throws {
    var chance = SeededRandom(seed: seed)
    var accepted = 0
    for _ in 0..<turns {
        let text = chance.spoil(
            ["a || b", "(a || b) && !c", "$InstallationId:{a-b} && t", "!((a))||b&&c"],
            with: ["||", "&&", "!", "(", ")", "$UserId:{", "}", "$", "|", ",", "é", "\u{301}", "!!!!!!!!!!!!!!!!!!!!"])
        do {
            let expression = try TagExpression(parsing: text)
            accepted += 1
            #expect(try TagExpression(parsing: expression.description) == expression)
            #expect(HeaderField("ServiceBusNotification-Tags", "\(expression)").isSendable)
            _ = expression.matches([try Tag("a")])
        } catch let problem as TagExpressionProblem {
            #expect((1...text.utf8.count + 1).contains(problem.position))
        }
    }
    #expect(accepted > turns / 20)
}

@Test(arguments: seeds)
func `a corrupted token is never valid for more than the original`(seed: UInt64) {
    var chance = SeededRandom(seed: seed)
    let rule = AccessRule(name: "R", primaryKey: AccessKey("k"), rights: .send)
    let good = SharedAccessSignature.token(
        resource: "https://h/hub", keyName: "R", key: rule.primaryKey, expiresAt: 2_000_000_000)
    for _ in 0..<turns {
        let text = chance.spoil([good], with: ["&", "=", "%", "%2F", "sr=", "&se=9", " ", "\u{301}", "é"])
        let result = SharedAccessSignature.verified(
            header: text, host: "h", path: "/other/messages", rules: [rule], now: 0)
        #expect(throws: TokenRefusal.self) { try result.get() }
    }
}

@Test(arguments: seeds)
func `the parts of a corrupted reply are bounded`(seed: UInt64) {
    var chance = SeededRandom(seed: seed)
    for _ in 0..<turns {
        let wait = chance.spoil(
            ["120", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"],
            with: ["9999999999", ":", "-", " ", "Feb", "GMT", "٣"])
        let location = chance.spoil(
            ["https://h/hub/messages/NH-1?api-version=2020-06"], with: ["/", "%", "%00", "?", "#", "é", "%C3"])
        let body = chance.spoil(
            ["<Error><Code>404</Code><Detail>a &lt; b.TrackingId:x_G3,TimeStamp:1</Detail></Error>"],
            with: ["<", ">", "&", "&#x", ";", "</Detail>", "<Detail>", "\u{0}", "\u{301}", "TrackingId:"])
        let reply = HubReply(
            status: Int.random(in: 0...700, using: &chance),
            fields: [HeaderField("Retry-After", wait), HeaderField("Location", location)],
            body: Array(body.utf8), now: Int64.random(in: .min ... .max, using: &chance))
        #expect((.zero...RetryAfter.max).contains(reply.retryAfter ?? .zero))
        #expect((reply.notificationID ?? "").utf8.count <= NotificationID.lengthMax)
        #expect((reply.detail ?? "").utf8.count <= ErrorBody.detailLengthMax)
        #expect((reply.detail ?? "").unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        #expect((reply.trackingID ?? "").utf8.count <= HubReply.trackingIDLengthMax)
        _ = reply.meaning
    }
}
