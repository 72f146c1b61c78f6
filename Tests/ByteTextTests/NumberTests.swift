import ByteText
import Testing

@Test(
    arguments: [
        (0, "event", nil, "0 events"), (1, "event", nil, "1 event"), (2, "crash", "crashes", "2 crashes"),
        (1_234_567, "event", nil, "1,234,567 events"),
    ] as [(Int, String, String?, String)])
func `a number agrees with its noun`(count: Int, noun: String, plural: String?, text: String) {
    #expect(counted(count, noun, plural: plural) == text)
}
