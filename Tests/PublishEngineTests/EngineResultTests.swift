import NewsModel
import NotificationHub
import PublishEngine
import Testing

struct EngineResultTests {
    @Test
    func `a result names the parts that were cut from the notification`() throws {
        var shell = try TestShell(change: { $0.platforms = [.apple] })
        _ = shell.assign()
        let long = String(repeating: "word ", count: 2_000)
        let short = shell.publish(news("short"), news("long", #","summary":"\#(long)""#))
        #expect(short.sends.count == 2)
        let results = short.sends.flatMap { shell.reply(201, to: $0).results.map(\.result) }
        #expect(results.map(\.cut) == [[], ["summary"]])
    }

    @Test
    func `headers that a result does not carry reach no trace either`() throws {
        var shell = try TestShell()
        _ = shell.assign()
        let parent = RecordHeader("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        let state = RecordHeader("tracestate", String(repeating: "x", count: 3_000))
        let sends = shell.publish(news("traced"), headers: [parent, state]).sends
        let send = try #require(sends.first)
        #expect(shell.engine.inFlightRequest(send.id)?.headers == [parent])
    }

    @Test
    func `a result names the categories for which the tag expression had no room`() throws {
        let names = (1...22).map { "C\($0)" }
        let table = try CategoryTable(names.map { CategoryTable.Category(name: $0) })
        var shell = try TestShell()
        let rules = ContentRules(router: try Router(table: table), builder: try PayloadBuilder())
        _ = shell.take(.reload(Reload(rate: nil, rules: rules, floodGuard: .init())))
        _ = shell.assign()
        let list = names.map { #""\#($0)""# }.joined(separator: ",")
        let sends = shell.publish(#"{"id":"e","headline":"h","categories":[\#(list)]}"#).sends
        let send = try #require(sends.first)
        let result = try #require(shell.reply(201, to: send).results.first?.result)
        #expect(result.categories == Array(names.prefix(20)))
        #expect(result.leftOut == ["C21", "C22"])
    }
}
