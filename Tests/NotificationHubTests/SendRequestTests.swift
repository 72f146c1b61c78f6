import NotificationHub
import Testing

@Test(arguments: [("template", Platform.template), ("FcmV1", .fcmv1), ("APPLE", .apple)])
func `a format is read in any letter case`(text: String, format: Platform) {
    #expect(Platform(headerValue: text) == format)
}

@Test(arguments: ["", "apples", "apple ", "fcm", "gcm\n", "\u{212A}"])
func `an unknown format is refused`(text: String) {
    #expect(Platform(headerValue: text) == nil)
}

@Test func `every format has its content type`() {
    for format in Platform.allCases { #expect(format.contentType.hasPrefix("application/")) }
    #expect(Platform.template.contentType == "application/json;charset=utf-8")
    #expect(Platform.windows.contentType == "application/xml")
}

@Test(arguments: [
    ("apns-collapse-id", "story-1", true), ("X-WNS-Type", "wns/toast", true), ("a", "", true),
    ("", "x", false), ("a b", "x", false), ("a:", "x", false), ("a", "x\r\nEvil: 1", false), ("a", "x\ny", false),
    ("a", "ü", false), ("ü", "x", false), ("a", "x\u{0}", false),
])
func `a field that could break a request is detected`(name: String, value: String, isSendable: Bool) {
    #expect(HeaderField(name, value).isSendable == isSendable)
}
