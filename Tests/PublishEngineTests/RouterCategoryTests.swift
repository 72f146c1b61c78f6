import EditorialControl
import NewsModel
import Testing

@testable import PublishEngine

struct RouterCategoryTests {
    typealias Category = CategoryTable.Category

    @Test
    func `the standard table has no problems and the tutorials' names as tags`() throws {
        let six = CategoryTable.standard.categories
        #expect(CategoryTable.problems(in: six).isEmpty)
        #expect(six.map(\.name) == ["World", "Politics", "Business", "Technology", "Science", "Sports"])
        #expect(six.map(\.tag) == six.map(\.name))
        #expect(try CategoryTable(six) == .standard)
    }

    @Test func `orders find a category by its aliases and its own tag, names first`() throws {
        let table = try CategoryTable([
            Category(name: "World", tag: "sports", names: ["International"]),
            Category(name: "Sports", tag: "games", names: ["sport"]),
            Category(name: "Tennis", tag: "ball"), Category(name: "Football", tag: "ball"),
        ])
        #expect(
            table.aliases == ["international": "World", "sports": "World", "games": "Sports", "sport": "Sports"])
        let rules = OrderRules(lanes: ["live"], table)
        func stopped(_ name: String) throws -> ControlScope {
            try rules.checked(
                Instruction(id: "1", scope: .stop(.category(name)), at: Instant(milliseconds: 0), by: "desk")
            ).scope
        }
        #expect(try stopped("Games") == .stop(.category("Sports")))
        #expect(try stopped("sports") == .stop(.category("Sports")), "a name outranks the tag of another category")
        #expect(throws: OrderProblem.self, "two categories have the tag") { try stopped("ball") }
    }

    @Test(arguments: [
        ([Category](), [["categories"]]),
        ([Category(name: "World"), Category(name: "WORLD ", tag: "w")], [["categories", "WORLD "]]),
        ([Category(name: "A", names: ["x"]), Category(name: "B", names: ["X"])], [["categories", "B", "names"]]),
        ([Category(name: "A", names: ["b"]), Category(name: "B")], [["categories", "B"]]),
        ([Category(name: "A", names: ["x", "X"])], [["categories", "A", "names"]]),
        ([Category(name: "Human interest")], [["categories", "Human interest", "tag"]]),
        ([Category(name: "A", tag: "")], [["categories", "A", "tag"]]),
        ([Category(name: "A", tag: "a || b")], [["categories", "A", "tag"]]),
        ([Category(name: "A", tag: "$UserId:{1}")], [["categories", "A", "tag"]]),
        ([Category(name: "A", tag: "$x")], [["categories", "A", "tag"]]),
        ([Category(name: "A", tag: "Wörld")], [["categories", "A", "tag"]]),
        ([Category(name: "A", tag: String(repeating: "a", count: 121))], [["categories", "A", "tag"]]),
        ([Category(name: "A", tag: "World"), Category(name: "B", tag: "world")], [["categories", "B", "tag"]]),
        ([Category(name: "A", subjects: ["medtop:11000000", "politics"])], [["categories", "A", "subjects"]]),
        ([Category(name: "A", subjects: ["medtop:19000000"])], [["categories", "A", "subjects"]]),
        ([Category(name: " ", tag: "a")], [["categories", " "]]),
        ([Category(name: String(repeating: "a", count: 65))], [["categories", String(repeating: "a", count: 65)]]),
        ([Category(name: "A\nB", tag: "a")], [["categories", "A\nB"]]),
        ([Category(name: "A", names: [""])], [["categories", "A", "names"]]),
    ])
    func `each mistake in the categories is named with its place`(categories: [Category], paths: [[String]]) {
        #expect(CategoryTable.problems(in: categories).map(\.path) == paths)
        #expect(throws: PayloadProblems.self) { try CategoryTable(categories) }
    }

    @Test(arguments: [
        [Category(name: "A", names: ["a", "A"])],
        [Category(name: "A", tag: "x"), Category(name: "B", tag: "x")],
        [Category(name: "A", subjects: ["11000000"]), Category(name: "B", subjects: ["medtop:11000000"])],
        [Category(name: "Süden", tag: "South"), Category(name: "体育", tag: "Sports")],
        [Category(name: "A", tag: String(repeating: "a", count: 120))],
        [Category(name: "A", tag: "_@#.:-9")],
    ])
    func `unusual but clear categories are accepted`(categories: [Category]) {
        #expect(CategoryTable.problems(in: categories) == [])
    }

    @Test
    func `all mistakes are reported together`() {
        let categories = [Category(name: "A", tag: "a b", subjects: ["x"]), Category(name: "a", tag: "A")]
        #expect(
            CategoryTable.problems(in: categories).map(\.path) == [
                ["categories", "A", "tag"], ["categories", "A", "subjects"], ["categories", "a"],
            ])
    }

    @Test
    func `a topic that two categories claim goes to both`() throws {
        let table = try CategoryTable([
            Category(name: "A", subjects: ["medtop:13000000"]), Category(name: "B", subjects: ["subj:13000000"]),
        ])
        #expect(table.indices(ofSubject: "medtop:20000756").found == [0, 1])
    }

    @Test
    func `every known topic leads to one of the 17 top topics`() {
        for number in 20_000_001...20_009_999 as ClosedRange<UInt32> {
            guard var code = MediaTopics.broader(number) else { continue }
            while let next = MediaTopics.broader(code) { code = next }
            #expect((1...17).contains(code / 1_000_000) && code % 1_000_000 == 0)
        }
    }
}
