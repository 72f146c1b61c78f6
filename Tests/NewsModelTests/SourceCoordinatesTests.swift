import NewsModel
import NotificationHub
import Testing

@Test(arguments: [
    ("news.events", 0, 0, Platform.template), ("a-b_c.d", 12, 9_007_199_254_740_993, .fcmv1),
    (String(repeating: "t", count: 249), Int32.max, Int64.max, .apple),
])
func `printed coordinates read back unchanged`(topic: String, partition: Int32, offset: Int64, platform: Platform) {
    let coordinates = SourceCoordinates(
        source: .init(partition: TopicPartition(topic: topic, partition: partition), offset: offset),
        platform: platform)
    #expect(coordinates.description == "\(topic)/\(partition)/\(offset)/\(platform.rawValue)")
    #expect(SourceCoordinates(coordinates.description) == coordinates)
    #expect(SourceCoordinates(headerValue: coordinates.headerValue) == coordinates)
}

@Test(arguments: [
    "", "/", "///", "t/1/2", "t/1/2/", "/1/2/template", "t/1/2/template/", "t/1/2/Template", "t/1/2/symbian",
    "t/-1/2/template", "t/+1/2/template", "t/01/2/template", "t/1/-2/template", "t/1/ 2/template",
    "t/2147483648/2/template", "t/1/9223372036854775808/template", "t/1/99999999999999999999999/template",
    "a/b/1/2/template", "t/1/٢/template",
])
func `anything but printed coordinates is refused`(text: String) {
    #expect(SourceCoordinates(text) == nil)
}

@Test func `a topic that is not UTF-8 is refused`() {
    #expect(SourceCoordinates(headerValue: [0xFF] + Array("/1/2/template".utf8)) == nil)
}

@Test func `trace context and CloudEvents attributes are carried to results`() {
    let headers = ["traceparent", "nw-source", "ce_id", "tracestate", "content-type", "CE_id", "ce_custom", "ce"]
        .map { RecordHeader($0, "x") }
    #expect(headers.carriedToResults.map(\.name) == ["traceparent", "ce_id", "tracestate", "ce_custom"])
}

@Test func `carried headers are bounded, keep their order, and the trace context has priority`() {
    func header(_ name: String, _ bytes: Int) -> RecordHeader {
        RecordHeader(name: name, value: Array(repeating: 0x61, count: bytes))
    }
    let many = (0..<600).map { header("ce_\($0)", 100) }
    let carried = (many + [header("traceparent", 55)]).carriedToResults
    #expect(carried.last?.name == "traceparent")
    #expect(carried.dropLast().map(\.name) == many.prefix(carried.count - 1).map(\.name))
    let bytes = carried.reduce(0) { $0 + $1.byteCount }
    #expect(bytes <= HeaderName.carriedBytesMax && bytes > HeaderName.carriedBytesMax - 200)
    let edge = [
        header("ce_a", 2_048), header("ce_b", 2_049), header("ce_c", 1 << 20), RecordHeader(name: "ce_d", value: nil),
    ]
    #expect(edge.carriedToResults.map(\.name) == ["ce_a", "ce_d"])
    #expect(
        [header("traceparent", 1 << 20), header("ce_\(String(repeating: "x", count: 9_000))", 1)].carriedToResults
            .isEmpty)
}
