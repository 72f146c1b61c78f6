import ByteText
import Testing

struct FormFieldsTests {
    @Test(arguments: [
        ("a=night+desk", "night desk"), ("a=night%20desk", "night desk"), ("a=1%2B1", "1+1"), ("a=100%25", "100%"),
        ("a=x%26y%3Dz", "x&y=z"), ("a=b=c", "b=c"), ("a=Gr%C3%BC%C3%9Fe+%E2%9C%93", "Grüße ✓"), ("a=Grüße", "Grüße"),
        ("a=", ""), ("a", ""), ("b=1&a=2", "2"), ("&&a=1&", "1"), ("a=1&a=2", "1"), ("%61=1", "1"),
    ])
    func `a field of a form is decoded`(form: String, value: String) throws {
        #expect(try #require(FormFields(form))["a"] == value)
    }

    @Test(arguments: ["a=%", "a=%4", "a=%zz", "a=%ff", "%zz=1", "a=%C3%28"])
    func `a form with a broken escape is refused`(form: String) {
        #expect(FormFields(form) == nil)
    }

    @Test func `a name that is given twice is noticed`() throws {
        #expect(try #require(FormFields("a=1&b=2")).repeated == nil)
        #expect(try #require(FormFields("a=1&b=2&%61=3")).repeated == "a")
        #expect(try #require(FormFields("")).fields.isEmpty)
    }
}
