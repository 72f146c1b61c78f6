import Backfill
import CZlib
import CZstd
import Foundation
import NewswireCommands
import Testing

/// A folder of compressed files, removed at the end.
private final class Folder {
    private let url = FileManager.default.temporaryDirectory.appending(path: "compressed-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    func write(_ bytes: [UInt8], to name: String = "e") throws -> String {
        let file = url.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path
    }

    func gzip(_ text: String) throws -> [UInt8] {
        let path = url.appending(path: "gzip").path
        let file = try #require(gzopen(path, "wb"))
        let bytes = Array(text.utf8)
        #expect(gzwrite(file, bytes, UInt32(bytes.count)) == Int32(bytes.count))
        #expect(gzclose(file) == Z_OK)
        return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

private func zstd(_ text: String) -> [UInt8] {
    let bytes = Array(text.utf8)
    var compressed = [UInt8](repeating: 0, count: ZSTD_compressBound(bytes.count))
    let count = ZSTD_compress(&compressed, compressed.count, bytes, bytes.count, 3)
    return Array(compressed.prefix(count))
}

private enum Kind: CaseIterable { case gzip, zstd }

private func compress(_ text: String, _ kind: Kind, _ folder: Folder) throws -> [UInt8] {
    switch kind {
    case .gzip: try folder.gzip(text)
    case .zstd: zstd(text)
    }
}

/// The lines of the events.
private func lines(_ path: String) throws -> [Int] {
    let file = try EventFile(path: path)
    var lines: [Int] = []
    while let items = try file.next() { lines += items.map(\.line) }
    return lines
}

@Test(arguments: Kind.allCases)
private func `a compressed NewsML-G2 document is read`(kind: Kind) throws {
    let folder = try Folder()
    let document = """
        <newsItem xmlns="http://iptc.org/std/nar/2006-10-01/" guid="urn:1"><contentMeta><headline>h</headline></contentMeta>
        </newsItem>
        """
    let file = try EventFile(path: folder.write(try compress(document, kind, folder), to: "a.xml.gz"))
    var items: [EventFileItem] = []
    while let more = try file.next() { items += more }
    #expect(
        items == [
            EventFileItem(
                line: 1, content: .event(Array(#"{"id":"urn:1","headline":"h","version":"1"}"#.utf8)), isConverted: true
            )
        ])
}

@Test(arguments: Kind.allCases)
private func `compressed files are read regardless of their name`(kind: Kind) throws {
    let folder = try Folder()
    let first = try compress("{}\n{}\n", kind, folder)
    let second = try compress("{}\n", kind, folder)
    #expect(try lines(folder.write(first)) == [1, 2])
    // Concatenated streams as from `cat a b`, with an empty one among them.
    #expect(try lines(folder.write(first + compress("", kind, folder) + second)) == [1, 2, 3])
    #expect(try lines(folder.write(compress("id,headline\n1,h\n", kind, folder), to: "e.CSV.gz")) == [2])
    // A file name with a wrong ending.
    #expect(try lines(folder.write(first, to: "e.ndjson")) == [1, 2])
    #expect(try lines(folder.write(compress("", kind, folder))).isEmpty)
}

@Test(arguments: Kind.allCases)
private func `a compressed file that is cut anywhere is an error`(kind: Kind) throws {
    let folder = try Folder()
    let whole = try compress((1...50).map { "{\"id\":\"\($0)\"}\n" }.joined(), kind, folder)
    for count in 4..<whole.count {
        let path = try folder.write(Array(whole.prefix(count)))
        #expect { try lines(path) } throws: {
            "\($0)".hasSuffix("in the middle of its compressed data: it is incomplete")
        }
    }
}

@Test(arguments: Kind.allCases)
private func `a damaged compressed file ends in an error or in the same events, never in a crash`(kind: Kind) throws {
    let folder = try Folder()
    let whole = try compress((1...50).map { "{\"id\":\"\($0)\"}\n" }.joined(), kind, folder)
    for index in whole.indices {
        var damaged = whole
        damaged[index] ^= 0x55
        _ = try? lines(folder.write(damaged))
    }
    let foreign = try folder.write(whole + Array("garbage".utf8))
    #expect { try lines(foreign) } throws: { "\($0)".contains("is damaged: its compressed data cannot be read (") }
}

@Test func `zero bytes after gzip are padding`() throws {
    let folder = try Folder()
    #expect(try lines(folder.write(folder.gzip("{}\n") + [0, 0, 0])) == [1])
    let path = try folder.write(folder.gzip("{}\n") + [0, 1])
    #expect(throws: EventFile.Failure.self) { try lines(path) }
}

@Test func `zstd frames without data are skipped`() throws {
    let folder = try Folder()
    let skippable: [UInt8] = [0x51, 0x2A, 0x4D, 0x18, 3, 0, 0, 0, 1, 2, 3]
    #expect(try lines(folder.write(skippable + zstd("{}\n{}"))) == [1, 2])
}

@Test(arguments: Kind.allCases)
private func `a small file that becomes a huge one is read piece by piece`(kind: Kind) throws {
    let folder = try Folder()
    let blank = String(repeating: " ", count: 32 << 20)
    let path = try folder.write(compress("{}\n\(blank)\n{}\n", kind, folder))
    let file = try EventFile(path: path, format: .ndjson)
    var items: [EventFileItem] = []
    var pieces = 0
    while let more = try file.next() {
        items += more
        pieces += 1
    }
    #expect(pieces > 500)
    #expect(items.map(\.line) == [1, 2, 3])
    #expect(items[1].content == .bad("longer than 2 MiB"))
}

@Test(arguments: [[0x50, 0x4B, 3, 4, 0, 0], Array("BZh9".utf8) + [0], [0xFF, 0xFE, 0x7B, 0]] as [[UInt8]])
func `an archive, or text in another encoding, is refused with a remedy`(bytes: [UInt8]) throws {
    let folder = try Folder()
    let path = try folder.write(bytes)
    #expect { try lines(path) } throws: { "\($0)".contains("is not text in UTF-8") }
}
