import NotificationHub
import Testing

struct UserTagsTests {
    private let signed = UserTags.signed(with: AccessKey("0123456789abcdef"))

    @Test(arguments: ["anna", "4711", "a_b@c.d:e-f#g=h", String(repeating: "x", count: 120)])
    func `an id that is valid in a tag is used unchanged`(id: String) throws {
        #expect(UserTags.userID(for: id) == id)
        #expect(try UserTags.reserved().tag(of: id).text == "$UserId:{\(id)}")
    }

    @Test(arguments: [
        "Bén", "a b", "a/b", "a}", "x} || World", "a,b", "漢字", String(repeating: "x", count: 121), "sha256:x",
        "SHA256:x",
    ])
    func `any other id is hashed, and the hash cannot be another user's id`(id: String) throws {
        let text = UserTags.userID(for: id)
        #expect(text.wholeMatch(of: /sha256:[0-9a-f]{64}/) != nil)
        #expect(try UserTags.reserved().tag(of: id).text == "$UserId:{\(text)}")
        #expect(UserTags.userID(for: text) != text)
    }

    @Test func `an empty user has no tag`() {
        #expect(throws: TagProblem.self) { try UserTags.reserved().tag(of: "") }
    }

    /// The expected values were made with Python's hmac.
    @Test func `a signed tag equals that of back ends in other languages`() throws {
        #expect(try signed.tag(of: "anna").text == "user_61f8dc039249a3075fec9bdbd9d211dfaa3ccfec")
        #expect(signed.pseudonym(of: "anna") == "c16c21155116d606")
    }

    @Test func `ids that differ only in case have different signed tags`() throws {
        #expect(try signed.tag(of: "Anna") != signed.tag(of: "anna"))
        // Hubs do not distinguish these tags, and neither do we.
        #expect(try UserTags.reserved().tag(of: "Anna") == UserTags.reserved().tag(of: "anna"))
    }

    @Test func `tag and pseudonym cannot be computed from each other, or without the secret`() throws {
        let other = UserTags.signed(with: AccessKey("fedcba9876543210"))
        #expect(try signed.tag(of: "anna") != other.tag(of: "anna"))
        #expect(signed.pseudonym(of: "anna") != other.pseudonym(of: "anna"))
        #expect(try !signed.tag(of: "anna").text.contains(signed.pseudonym(of: "anna")))
        #expect(UserTags.reserved().pseudonym(of: "anna") != signed.pseudonym(of: "anna"))
        #expect(signed.pseudonym(of: "anna") != signed.pseudonym(of: "ben"))
    }

    @Test func `a description hides the secret`() {
        #expect(!"\(signed)".contains("0123456789"))
        var dumped = ""
        dump(signed, to: &dumped)
        #expect(!dumped.contains("0123456789"))
    }
}
