import CZlib
import FeedIO
import Feeds
import TestSupport
import Testing

struct CompressionTests {
    private static let text = Array(String(repeating: "feed", count: 5_000).utf8)

    /// - Parameter window: zlib's `windowBits`: 31 for gzip, 15 for zlib, -15 for raw deflate.
    private static func packed(_ bytes: [UInt8], _ window: Int32) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, 9, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        var input = bytes
        return input.withUnsafeMutableBufferPointer { input in
            [UInt8](unsafeUninitializedCapacity: input.count + 1_024) { output, count in
                stream.next_in = input.baseAddress
                stream.avail_in = UInt32(input.count)
                stream.next_out = output.baseAddress
                stream.avail_out = UInt32(output.count)
                deflate(&stream, Z_FINISH)
                count = output.count - Int(stream.avail_out)
                deflateEnd(&stream)
            }
        }
    }

    private func get(_ body: [UInt8], _ encoding: String?, limit: Int = 1 << 20) async throws -> FetchResult {
        try await withPublisher(FetchLimits.patient.with { $0.body = limit }) { _ in
            .status(200, encoding.map { [("Content-Encoding", $0)] } ?? [], body: body)
        } _: { publisher, fetcher in
            try await fetcher.get(publisher.url("/"))
        }
    }

    @Test(
        arguments: [
            ("gzip", 31), ("x-gzip", 31), ("GZIP", 31), (" gzip , identity", 31), ("deflate", 15), ("deflate", -15),
            ("identity", 0), ("", 0), (nil, 0),
        ] as [(String?, Int32)])
    func `a requested encoding is unpacked, and the hash is that of the document`(encoding: String?, window: Int32)
        async throws
    {
        let plain = try #require(await get(Self.text, nil).answer)
        let body = window == 0 ? Self.text : Self.packed(Self.text, window)
        let answer = try #require(await get(body, encoding).answer)
        #expect(answer.bodyHash == plain.bodyHash)
        #expect(answer.bodyBytes == Self.text.count)
    }

    @Test func `consecutive gzip members are one document, and padding is ignored`() async throws {
        let half = Self.packed(Array(Self.text[..<10_000]), 31)
        for padding in [[], [0, 0, 0], Array("garbage".utf8)] as [[UInt8]] {
            #expect(try await get(half + half + padding, "gzip").answer?.bodyBytes == 20_000)
        }
        #expect(try await get([], "gzip").answer?.bodyBytes == 0)
    }

    @Test(
        arguments: [("gzip", 31), ("deflate", 15), ("deflate", -15)] as [(String, Int32)])
    func `a decompression bomb ends at the limit of the body`(encoding: String, window: Int32) async throws {
        let bomb = Self.packed([UInt8](repeating: 0x20, count: 32 << 20), window)
        #expect(bomb.count < 64 << 10)
        #expect(try await get(bomb, encoding).failure?.reason == .tooLarge)
        #expect(try await get(Array(repeatElement(bomb, count: 10).joined()), encoding).failure?.reason == .tooLarge)
        let edge = Self.packed([UInt8](repeating: 0x20, count: 1 << 20), window)
        #expect(try await get(edge, encoding).answer?.bodyBytes == 1 << 20)
        #expect(try await get(edge, encoding, limit: 1 << 20 - 1).failure?.reason == .tooLarge)
    }

    @Test(
        arguments: [
            ("br", 0), ("zstd", 0), ("gzip, gzip", 31), ("poison", 0), ("gzip", 0), ("gzip", 15), ("deflate", 31),
        ] as [(String, Int32)])
    func `an unrequested encoding is refused with our own message`(encoding: String, window: Int32) async throws {
        let body = window == 0 ? Self.text : Self.packed(Self.text, window)
        let failure = try #require(await get(body, encoding).failure)
        #expect(failure.reason == .protocolError)
        #expect(!failure.detail.contains("poison"))
    }

    @Test(arguments: [31, 15, -15] as [Int32])
    func `a stream that is cut or changed anywhere is rejected`(window: Int32) async throws {
        let whole = Self.packed(Self.text, window)
        let encoding = window == 31 ? "gzip" : "deflate"
        for cut in [1, 2, 3, 9, 10, 11, whole.count / 2, whole.count - 1] {
            #expect(try await get(Array(whole[..<cut]), encoding).failure?.reason == .protocolError, "\(cut)")
        }
        guard window != -15 else { return }
        var changed = whole
        changed[whole.count - 2] ^= 1
        #expect(try await get(changed, encoding).failure?.reason == .protocolError)
    }
}
