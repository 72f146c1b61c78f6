import OTLPTracing
import Testing

private let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

@Test(arguments: [
    parent, "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00",
    "00-0000000000000000a3ce929d0e0e4736-0000000000000001-01",
])
func `a traceparent is written as it was read`(text: String) throws {
    #expect(try #require(TraceContext(parent: text)).parent == text)
}

@Test(arguments: [
    "", "00", "00-1-2-03", String(parent.dropLast()), parent + "0", parent + "-extra", parent.uppercased(),
    "ff" + parent.dropFirst(2), "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", parent.replacing("-", with: "_"),
    parent.replacing("4bf9", with: "4bg9"), parent.replacing("4bf9", with: "é9"),
    String(repeating: "0", count: 100_000),
])
func `anything but a traceparent is ignored`(text: String) {
    #expect(TraceContext(parent: text) == nil)
}

@Test func `the known part of a later version is read`() throws {
    let later = try #require(TraceContext(parent: "01" + parent.dropFirst(2) + "-more"))
    #expect(later.isSampled && later.parent == parent)
}
