import CSimdjson

/// Reads JSON documents, one after another, into the same memory. For one thread at a time.
///
/// Memory grows with the largest document seen: about 15 times its size.
package final class JSONParser {
    private let handle: OpaquePointer?
    private let sizeMax: Int
    private let depthMax: Int

    package init(sizeMax: Int = EventLimits.document, depthMax: Int = EventLimits.depth) {
        self.sizeMax = max(sizeMax, 0)
        self.depthMax = max(depthMax, 1)
        handle = csj_parser_create(self.sizeMax, self.depthMax)
    }

    deinit {
        csj_parser_destroy(handle)
    }

    /// The document's top object. It and all values in it are valid until the next call.
    package func object(in bytes: UnsafeBufferPointer<UInt8>) throws(Undecodable) -> JSONObject {
        guard bytes.count <= sizeMax else {
            throw Undecodable(.tooLarge, "the document has \(bytes.count) bytes; at most \(sizeMax) are read")
        }
        guard let handle else { throw Undecodable(.outOfMemory, "there was no memory to read the document") }
        // RFC 8259 section 8.1 lets a reader ignore a byte order mark.
        let mark = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        let text = UnsafeBufferPointer(rebasing: bytes.dropFirst(mark))
        var root = csj_value()
        switch csj_parse(handle, text.baseAddress, text.count, &root) {
        case csj_status_ok: break
        case csj_status_out_of_memory:
            throw Undecodable(.outOfMemory, "there was no memory to read a document of \(bytes.count) bytes")
        default: throw JSONFault(in: bytes, from: mark, depthMax: depthMax).undecodable
        }
        guard case .object(let object) = JSONValue(root) else {
            throw Undecodable(.notAnObject, "the document must be a JSON object; it is \(JSONValue(root).kind)")
        }
        return object
    }
}
