import Backfill
import Foundation
import NewswireCommands
import Testing

struct ProgressFileTests {
    /// Passes the path of a file that does not exist, in a folder of its own.
    private func withPath(_ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "progress-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "e.ndjson").path)
    }

    private func progress(_ items: Int) -> PublishProgress {
        var progress = PublishProgress(topic: "t", cluster: "c")
        for number in 1...items { progress.add(published: number, UInt64(number)) }
        return progress
    }

    @Test func `the longest progress fits into its file`() throws {
        try withPath { path in
            var progress = PublishProgress(
                topic: String(repeating: "t", count: 249), cluster: String(repeating: "c", count: 100),
                run: RunID(String(repeating: "r", count: 64)), begunAt: .max)
            progress.input = FileStamp(of: CommandLine.arguments[0])
            progress.coveredUntil = .max
            progress.stored = .init(partition: .max, offset: .max)
            var number = 1_000_000_000_000
            for _ in 1...PublishProgress.absentMax {
                _ = progress.add(absent: number...number + 1_000_000)
                number += 2_000_000
            }
            for number in number...number + 200_000 { _ = progress.add(ahead: number, 1) }
            try ProgressFile(for: path).save(progress)
            let text = try String(contentsOfFile: ProgressFile.path(for: path), encoding: .utf8)
            #expect(text.split(separator: "\n").count == 2)
        }
    }

    @Test func `the last saved progress is read, even if the machine stopped during a write`() throws {
        try withPath { path in
            var file: ProgressFile? = try ProgressFile(for: path)
            #expect(file?.earlier == nil)
            for items in 1...5 { try file?.save(progress(items)) }
            file = nil
            #expect(try ProgressFile(for: path).earlier == progress(5))
            // Destroys each half in turn. The other half is still intact.
            let url = URL(fileURLWithPath: ProgressFile.path(for: path))
            let whole = try Data(contentsOf: url)
            var found: Set<PublishProgress> = []
            for half in [0, whole.count / 2] {
                var torn = whole
                torn.replaceSubrange(half + 30..<half + 60, with: Data(repeating: 0, count: 30))
                try torn.write(to: url)
                found.insert(try #require(try ProgressFile(for: path).earlier))
            }
            #expect(found == [progress(4), progress(5)])
        }
    }

    @Test(arguments: ["nonsense", "{\"topic\":\"t\",\"events\":3}\n", "newswire-progress-1 1 0 {}\n", "\n\n"])
    func `a damaged progress file is refused, with no advice that publishes twice`(text: String) throws {
        try withPath { path in
            try Data(text.utf8).write(to: URL(fileURLWithPath: ProgressFile.path(for: path)))
            #expect { try ProgressFile(for: path) } throws: {
                "\($0)".hasSuffix("If no event of \(path) is on the topic yet, remove it")
            }
        }
    }

    @Test func `a released progress file can be locked again while a starting process has a copy of its descriptor`()
        throws
    {
        try withPath { path in
            var first: ProgressFile? = try ProgressFile(for: path)
            #expect(first != nil)
            let copy = try #require(try copyOfDescriptor(for: ProgressFile.path(for: path)))
            defer { close(copy) }
            first = nil
            #expect(try ProgressFile(for: path).earlier == nil)
        }
    }

    /// A copy of this process's descriptor of an open file, as `fork` makes it.
    private func copyOfDescriptor(for path: String) throws -> Int32? {
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            guard let number = Int32(name),
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"),
                target.hasSuffix(path)
            else { continue }
            return dup(number)
        }
        return nil
    }

    @Test func `two commands cannot publish one file at once`() throws {
        try withPath { path in
            var first: ProgressFile? = try ProgressFile(for: path)
            #expect { try ProgressFile(for: path) } throws: {
                "\($0)" == "\(path): is being published by another command; wait for its end"
            }
            first?.remove()
            first = nil
            #expect(try ProgressFile(for: path).earlier == nil)
        }
    }
}
