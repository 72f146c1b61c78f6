/// The member names that are read in a news-event, a ninjs document, a CloudEvent or inside one.
enum Field: UInt8, CaseIterable {
    // news-event
    case id, headline, category, categories, subjects, summary, language, urgency, story, version, status
    case publishedAt, expiresAt, embargoUntil, link, image, environment, test, users, interests, data
    // ninjs, any version
    case uri, guid, standard, type, versionCreated, firstCreated, contentCreated, embargoed, expires, pubStatus
    case headlines, headlineOther, title, slugline, descriptionText, descriptionOther, descriptions
    case subject, renditions, associations
    // CloudEvents
    case specversion, source, time, dataBase64
    // inside ninjs members
    case name, code, literal, scheme, role, value, href, contentType, width

    /// The spellings: ninjs uses camel case since 3.0 and used lower case before.
    var names: [StaticString] {
        switch self {
        case .id: ["id"]
        case .headline: ["headline"]
        case .category: ["category"]
        case .categories: ["categories"]
        case .subjects: ["subjects"]
        case .summary: ["summary"]
        case .language: ["language"]
        case .urgency: ["urgency"]
        case .story: ["story"]
        case .version: ["version"]
        case .status: ["status"]
        case .publishedAt: ["publishedAt"]
        case .expiresAt: ["expiresAt"]
        case .embargoUntil: ["embargoUntil"]
        case .link: ["link"]
        case .image: ["image"]
        case .environment: ["environment"]
        case .test: ["test"]
        case .users: ["users"]
        case .interests: ["interests"]
        case .data: ["data"]
        case .uri: ["uri"]
        case .guid: ["guid"]
        case .standard: ["standard"]
        case .type: ["type"]
        case .versionCreated: ["versionCreated", "versioncreated"]
        case .firstCreated: ["firstCreated", "firstcreated"]
        case .contentCreated: ["contentCreated", "contentcreated"]
        case .embargoed: ["embargoedUntil", "embargoeduntil", "embargoed"]
        case .expires: ["expires"]
        case .pubStatus: ["pubStatus", "pubstatus"]
        case .headlines: ["headlines"]
        case .title: ["title"]
        case .slugline: ["slugline"]
        case .descriptionText: ["description_text"]
        case .descriptions: ["descriptions"]
        case .subject: ["subject"]
        case .renditions: ["renditions"]
        case .associations: ["associations"]
        case .specversion: ["specversion"]
        case .source: ["source"]
        case .time: ["time"]
        case .dataBase64: ["data_base64"]
        case .name: ["name"]
        case .code: ["code"]
        case .literal: ["literal"]
        case .scheme: ["scheme"]
        case .role: ["role"]
        case .value: ["value"]
        case .href: ["href"]
        case .contentType: ["contentType", "contenttype", "mimetype"]
        case .width: ["width"]
        // Patterns, not names: see `FieldTable.pattern`.
        case .headlineOther, .descriptionOther: []
        }
    }
}

/// Finds the field of a member name in a few nanoseconds: open addressing over names packed into two words.
struct FieldTable {
    private struct Entry {
        var name: PackedName
        var field: Field
    }

    /// A name of up to 16 bytes; no known name is longer.
    private struct PackedName: Equatable {
        var words: (UInt64, UInt64) = (0, 0)
        var count: Int

        @inline(__always)
        init?(_ text: JSONText) {
            guard text.count <= 16 else { return nil }
            count = text.count
            withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(text)) }
        }

        @inline(__always)
        static func == (a: PackedName, b: PackedName) -> Bool {
            a.words.0 == b.words.0 && a.words.1 == b.words.1 && a.count == b.count
        }

        /// An index into 256 places.
        @inline(__always)
        var place: Int {
            let mixed = (words.0 ^ (words.1 &* 0x9E37_79B9_7F4A_7C15)) &* 0xD6E8_FEB8_6659_FD93
            return Int(truncatingIfNeeded: mixed >> 56)
        }
    }

    /// 256 places for about 60 names, so every search reaches an empty place.
    private let entries: [Entry?]

    init() {
        var entries = [Entry?](repeating: nil, count: 256)
        for field in Field.allCases {
            for name in field.names {
                guard let packed = name.withUTF8Buffer({ PackedName($0) }) else { continue }
                var place = packed.place
                while entries[place] != nil { place = (place + 1) & 255 }
                entries[place] = Entry(name: packed, field: field)
            }
        }
        self.entries = entries
    }

    func field(named name: JSONText) -> Field? {
        guard let packed = PackedName(name) else { return Self.pattern(name) }
        var place = packed.place
        while let entry = entries[place] {
            if entry.name == packed { return entry.field }
            place = (place + 1) & 255
        }
        return Self.pattern(name)
    }

    /// Finds ninjs 1.x texts named by pattern: `headline_*`, `description_*`. Texts with markup are useless on a phone.
    private static func pattern(_ name: JSONText) -> Field? {
        guard name.count > 9, let first = name.first, first == UInt8(ascii: "h") || first == UInt8(ascii: "d") else {
            return nil
        }
        if name.suffix(4).elementsEqual("html".utf8) { return nil }
        if name.starts(with: "headline_") { return .headlineOther }
        return name.starts(with: "description_") ? .descriptionOther : nil
    }
}
