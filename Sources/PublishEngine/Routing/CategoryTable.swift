/// The categories readers subscribe to, in the order in which they are named and tagged.
public struct CategoryTable: Sendable, Hashable {
    public struct Category: Sendable, Hashable {
        /// The name that readers see, e.g. `World`; 1 to 64 bytes of UTF-8.
        public var name: String
        /// The tag the hub routes by; one spelling only, whatever case an event uses.
        public var tag: String
        /// Further names an event may use; compared without case.
        public var names: [String]
        /// IPTC media topics or subject codes: `medtop:11000000`, `11000000` or the topic's address.
        public var subjects: [String]

        /// - Parameter tag: the tag; by default the name.
        public init(name: String, tag: String? = nil, names: [String] = [], subjects: [String] = []) {
            self.name = name
            self.tag = tag ?? name
            self.names = names
            self.subjects = subjects
        }
    }

    public let categories: [Category]
    /// Names as written in the settings, so that the usual event is found without case folding.
    private let exact: [String: Int]
    private let folded: [String: Int]
    private let topics: [UInt32: [Int]]

    public init(_ categories: [Category]) throws(PayloadProblems) {
        let problems = Self.problems(in: categories)
        guard problems.isEmpty else { throw PayloadProblems(problems) }
        self.init(checked: categories)
    }

    private init(checked categories: [Category]) {
        self.categories = categories
        var exact: [String: Int] = [:]
        var folded: [String: Int] = [:]
        var topics: [UInt32: [Int]] = [:]
        for (index, category) in categories.enumerated() {
            for name in [category.name] + category.names {
                exact[name] = index
                folded[Self.fold(name)] = index
            }
            for code in category.subjects.compactMap(MediaTopics.code) where topics[code]?.last != index {
                topics[code, default: []].append(index)
            }
        }
        self.exact = exact
        self.folded = folded
        self.topics = topics
    }

    /// The six of the Notification Hubs tutorials with the IPTC topics that belong to them. Below science and
    /// technology, engineering and cyber warfare are Technology and the rest is Science; below politics,
    /// international relations are World.
    public static let standard = CategoryTable(checked: [
        Category(
            name: "World", names: ["international"],
            subjects: ["medtop:16000000", "medtop:03000000", "medtop:20000638"]),
        Category(name: "Politics", subjects: ["medtop:11000000"]),
        Category(name: "Business", subjects: ["medtop:04000000", "medtop:09000000"]),
        Category(name: "Technology", names: ["tech"], subjects: ["medtop:20000756", "medtop:20001361"]),
        Category(name: "Science", subjects: ["medtop:13000000"]),
        Category(name: "Sports", names: ["sport"], subjects: ["medtop:15000000"]),
    ])

    /// The position of the category with this name or alias, compared without case and outer white space.
    package func index(named name: String) -> Int? { exact[name] ?? folded[Self.fold(name)] }

    /// The topics whose category is computed in advance.
    var knownTopics: [UInt32] { MediaTopics.known + topics.keys.sorted() }

    /// The categories that claim the nearest topic at or above this one, and that topic. Only the nearest counts: a
    /// claimed topic no longer belongs to a broader topic's category.
    func indices(ofSubject subject: String) -> (found: [Int], topic: UInt32?) {
        var next = MediaTopics.code(subject)
        while let code = next {
            if let found = topics[code] { return (found, code) }
            next = MediaTopics.broader(code)
        }
        return ([], nil)
    }

    static func fold(_ name: String) -> String {
        guard let first = name.first, let last = name.last else { return "" }
        if !first.isWhitespace && !last.isWhitespace { return name.lowercased() }
        let tail = name.drop(while: \.isWhitespace)
        guard let end = tail.lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return tail[...end].lowercased()
    }
}
