import HubEmulator
import Testing

struct HubTimeTests {
    @Test(arguments: [
        ("2018-11-07T00:18:37Z", 1_541_549_917_000 as Int64), ("2018-11-07T00:18:37", 1_541_549_917_000),
        ("1997-07-16T19:20+01:00", 869_077_200_000), ("2018-11-07T00:18:37.25Z", 1_541_549_917_250),
        ("11/07/2018 00:18:37", 1_541_549_917_000), ("2024-02-29T00:00:00Z", 1_709_164_800_000),
    ])
    func `times are read in all forms that clients write`(text: String, milliseconds: Int64) {
        #expect(HubTime(clientText: text) == HubTime(milliseconds: milliseconds))
    }

    @Test(arguments: [
        "", "tomorrow", "2023-02-29T00:00:00Z", "2018-13-07T00:18:37Z", "2018-11-07T25:18:37Z", "2018-11-07",
    ])
    func `anything but a time is refused`(text: String) {
        #expect(HubTime(clientText: text) == nil)
    }

    @Test(arguments: [
        (0 as Int64, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (.max, "9999-12-31T23:59:59.999Z"),
        (.min, "0001-01-01T00:00:00.000Z"),
    ])
    func `any time can be written`(milliseconds: Int64, text: String) {
        #expect(HubTime(milliseconds: milliseconds).description == text)
    }
}
