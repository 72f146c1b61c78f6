import BreakingNews
import Foundation
import NotificationHub
import Testing

struct CategoryStoreTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "news-\(UUID().uuidString)")
    private var file: URL { folder.appending(path: "choices.json") }

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    @Test func `the six categories of the tutorials are on offer, and no category is chosen`() {
        let store = CategoryStore(MemoryStore())
        #expect(
            store.offer.map(\.name) == ["World", "Politics", "Business", "Technology", "Science", "Sports"])
        #expect(store.chosen.isEmpty && !store.hasChosen)
    }

    @Test func `choices are restored at the next start, in the order of the offer`() throws {
        let offer = NewsCategory.standard
        try CategoryStore(FileStore(file)).choose([offer[5], offer[0]])
        #expect(CategoryStore(FileStore(file)).chosen.map(\.name) == ["World", "Sports"])
        try CategoryStore(FileStore(file)).choose([])
        let again = CategoryStore(FileStore(file))
        #expect(again.chosen.isEmpty && again.hasChosen)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["choices.json"])
    }

    @Test func `a choice no longer on offer is kept in case it returns`() throws {
        let weather = try NewsCategory("Weather")
        let store = FileStore(file)
        try CategoryStore(store, offer: NewsCategory.standard + [weather]).choose([weather, NewsCategory.standard[0]])
        #expect(CategoryStore(store).chosen.map(\.name) == ["World"])
        try CategoryStore(store).choose([NewsCategory.standard[1]])
        let back = CategoryStore(store, offer: [weather] + NewsCategory.standard)
        #expect(back.chosen.map(\.name) == ["Weather", "Politics"])
    }

    @Test(arguments: [
        "", "{", "null", "[]", "\u{0}\u{1}\u{FF}", #"{"categories":7}"#, #"{"categories":[1,"World"]}"#,
        #"{"categories":{"World":true}}"#, String(repeating: "[", count: 100_000),
        String(repeating: " ", count: FileStore.lengthMax + 1) + #"{"categories":["World"]}"#,
    ])
    func `a damaged file counts as empty and is replaced`(garbage: String) throws {
        try Data(garbage.utf8).write(to: file)
        let store = CategoryStore(FileStore(file))
        #expect(store.chosen.isEmpty)
        try store.choose([NewsCategory.standard[2]])
        #expect(CategoryStore(FileStore(file)).chosen.map(\.name) == ["Business"])
    }

    @Test func `only invalid tags are lost`() throws {
        try Data(#"{"categories":["World","no tag","","Sports"]}"#.utf8).write(to: file)
        #expect(CategoryStore(FileStore(file)).chosen.map(\.name) == ["World", "Sports"])
    }

    @Test func `values in one file do not disturb each other`() throws {
        let store = FileStore(file)
        try store.save(Data(#"{"id":"1"}"#.utf8), named: "registration")
        try CategoryStore(store).choose([NewsCategory.standard[0]])
        #expect(store.data(named: "registration") == Data(#"{"id":"1"}"#.utf8))
    }

    @Test func `a file that cannot be written is an error, not a silent loss`() {
        let store = CategoryStore(FileStore(folder.appending(path: "no/such/folder/file")))
        #expect(throws: (any Error).self) { try store.choose([NewsCategory.standard[0]]) }
    }

    @Test func `a file that exists and cannot be read is not replaced`() throws {
        // Opening a link that leads to itself fails, and writing over it would succeed.
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: file.lastPathComponent)
        let store = CategoryStore(FileStore(file))
        #expect(store.chosen.isEmpty)
        #expect(throws: (any Error).self) { try store.choose([NewsCategory.standard[0]]) }
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: file.path) == file.lastPathComponent)
    }

    @Test func `the file is complete for readers while many write`() async throws {
        let store = FileStore(file)
        await withTaskGroup { group in
            for index in 0..<50 {
                group.addTask { try? store.save(Data("\(index)".utf8), named: "value-\(index % 5)") }
                group.addTask { _ = store.data(named: "value-0") }
            }
        }
        for index in 0..<5 { #expect(store.data(named: "value-\(index)") != nil) }
    }
}
