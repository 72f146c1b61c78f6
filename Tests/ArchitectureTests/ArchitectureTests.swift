import Foundation
import Testing

/// Compares `Sources/ARCHITECTURE.md` with `Package.swift` and the code: modules import only what both permit, and everything
/// that the page names exists.
struct ArchitectureTests {
    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        .standardizedFileURL
    private static let sources = repository.appending(path: "Sources")
    /// Modules outside the package that no pure module may import.
    private static let impure = system.union(["Logging", "NIOCore", "NIOPosix"])
    /// Modules of the toolchain, which no target declares.
    private static let system: Set = [
        "Foundation", "FoundationEssentials", "FoundationNetworking", "FoundationXML", "Dispatch", "Glibc", "Musl",
        "Darwin", "Synchronization", "Testing",
    ]
    /// C libraries, which the table permits without a line of their own.
    private static let libraries: Set = ["CSimdjson", "CRdkafka", "CIconv", "CPcre2", "CAllocator", "CBuild"]

    private let text: String
    private let modules: [Module]
    private let manifest: Manifest

    private struct Module {
        var name: String
        var isPure: Bool
        /// The permitted modules; `nil` permits every module.
        var uses: Set<String>?
    }

    init() throws {
        text = try String(contentsOf: Self.sources.appending(path: "ARCHITECTURE.md"), encoding: .utf8)
        manifest = Manifest(
            text: try String(contentsOf: Self.repository.appending(path: "Package.swift"), encoding: .utf8))
        let table = text.components(separatedBy: "## Modules")[1].components(separatedBy: "## Threads")[0]
        modules = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            return Module(
                name: Self.quoted(cells[1])[0], isPure: cells[3] == "yes",
                uses: cells[4] == "all" ? nil : Set(Self.quoted(cells[4])))
        }
    }

    private static func quoted(_ text: some StringProtocol) -> [String] {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }

    private static func swiftFiles(in folder: URL) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
            .map { folder.appending(path: $0) }
    }

    /// The modules that a file imports. An indented line belongs to a script in another language.
    private static func imports(of file: URL) throws -> [String] {
        try String(contentsOf: file, encoding: .utf8)
            .matches(of: /^(?:@?\w+ )?import (?:(?:struct|class|enum|protocol|func) )?(\w+)/.anchorsMatchLineEndings())
            .map { String($0.1) }
    }

    @Test func `every folder of Swift code is a module in the table`() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path).filter {
            try !Self.swiftFiles(in: Self.sources.appending(path: $0)).isEmpty
        }
        #expect(Set(folders) == Set(modules.map(\.name)))
    }

    @Test func `the modules table is sorted so that each module uses only modules above it`() {
        var above = Self.libraries
        for module in modules {
            #expect((module.uses ?? []).isSubset(of: above), "\(module.name)")
            above.insert(module.name)
        }
    }

    @Test func `the table has the dependencies that Package.swift declares`() throws {
        #expect(manifest.targets.count > 50)
        let ours = Set(modules.map(\.name)).union(Self.libraries)
        for module in modules {
            let target = try #require(
                manifest.targets.first { $0.folder == "Sources/" + module.name }, "\(module.name)")
            guard let uses = module.uses else { continue }
            #expect(uses == target.dependencies.intersection(ours), "\(module.name)")
        }
    }

    @Test func `each target declares the modules that it imports, and imports those that it declares`() throws {
        // Tests start these programs, and the linker uses this library; nothing imports them.
        let notImported = Set(manifest.targets.filter(\.isExecutable).map(\.name)).union(["CAllocator"])
        for target in manifest.targets {
            let imported = Set(
                try Self.swiftFiles(in: Self.repository.appending(path: target.folder)).flatMap(Self.imports))
            let undeclared = imported.subtracting(Self.system).subtracting(target.dependencies)
            #expect(undeclared.isEmpty, "\(target.name) imports these without declaring them")
            let unused = target.dependencies.subtracting(imported).subtracting(notImported)
            #expect(unused.isEmpty, "\(target.name) declares these without importing them")
        }
    }

    @Test func `pure modules import nothing that has a clock, a socket or a thread`() throws {
        for module in modules where module.isPure {
            let imported = try Self.swiftFiles(in: Self.sources.appending(path: module.name)).flatMap(Self.imports)
            #expect(Self.impure.intersection(imported).isEmpty, "\(module.name)")
        }
    }

    @Test func `every path and every function on the journeys exists`() throws {
        let journeys = text.components(separatedBy: "## Journeys")[1].components(separatedBy: "## Words")[0]
        var file: String?
        var count = 0
        for name in Self.quoted(journeys) {
            if name.contains("/"), !name.hasPrefix("/") {
                let url = Self.sources.appending(path: name)
                #expect(FileManager.default.fileExists(atPath: url.path), "\(name)")
                file = name.hasSuffix(".swift") ? try? String(contentsOf: url, encoding: .utf8) : nil
            } else if let file, name.first?.isLowercase == true, name.allSatisfy({ $0.isLetter || $0.isNumber }) {
                #expect(file.contains("func \(name)(") || file.contains("func \(name)<"), "\(name)")
                count += 1
            }
        }
        #expect(count > 20)
    }

    @Test func `every path in CONTRIBUTING exists`() throws {
        let text = try String(contentsOf: Self.repository.appending(path: ".github/CONTRIBUTING.md"), encoding: .utf8)
        let changes = text.components(separatedBy: "## Where a change goes").last ?? ""
        let names = Set(Self.quoted(changes).filter { $0.hasSuffix(".swift") || $0.contains("/") })
        #expect(names.count > 50)
        let files = try Self.swiftFiles(in: Self.sources).map(\.lastPathComponent)
        for name in names where !name.contains("…") {
            let places = [Self.sources, Self.repository].map { $0.appending(path: name).path }
            // A name without a folder stands beside one with it.
            let isFile =
                name.contains("/") ? places.contains(where: FileManager.default.fileExists) : files.contains(name)
            #expect(isFile, "\(name)")
        }
    }

    @Test func `every test named in the table of rules exists`() throws {
        let rules = text.components(separatedBy: "## Not obvious")[1]
        let suites = Set(
            try Self.swiftFiles(in: Self.repository.appending(path: "Tests"))
                .map { $0.deletingPathExtension().lastPathComponent })
        let named = rules.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains("Tests`") }
            .compactMap { Self.quoted($0.split(separator: "|").last ?? "").first }
        #expect(named.count > 10)
        for name in named { #expect(suites.contains(name), "\(name)") }
    }

    /// Tests must use a public or package interface instead.
    @Test func `no test imports the program as testable`() throws {
        for file in try Self.swiftFiles(in: Self.repository.appending(path: "Tests")) {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("@testable import " + "newswire"), "\(file.lastPathComponent)")
        }
    }
}
