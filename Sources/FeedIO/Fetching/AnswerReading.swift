import ByteText
import Crypto
import Feeds
import NIOCore

extension FetchAnswer {
    /// Returns the answer with its document.
    ///
    /// - Parameters:
    ///   - body: as it was received.
    ///   - encodings: values of `Content-Encoding`, the outermost last.
    ///   - limit: maximum bytes after unpacking.
    func reading(_ body: ByteBuffer, encodings: [String], for request: FetchRequest, limit: Int) -> FetchResult {
        let bytes: [UInt8]
        do throws(FetchFailure) {
            bytes = try unpacked(Array(body.readableBytesView), encodings: encodings, limit: limit)
        } catch { return .failed(error) }
        var answer = self
        answer.bodyBytes = bytes.count
        answer.bodyHash = SHA256.hash(data: bytes).hexadecimal
        guard answer.bodyHash != request.knownBodyHash else { return .answered(answer) }
        let source = DocumentSource(
            address: finalURL, charset: header("content-type").flatMap(Self.charset),
            contentLocation: header("content-location"), zoneMinutes: request.zoneMinutes)
        do throws(NotAFeed) {
            answer.document = .feed(try FeedReader.read(bytes, from: source))
        } catch { answer.document = .notAFeed(error) }
        return .answered(answer)
    }

    /// The `charset` of a value such as `text/xml; charset="utf-8"`. RFC 9110 §8.3.2.
    static func charset(of contentType: String) -> String? {
        for parameter in contentType.split(separator: ";").dropFirst().prefix(16) {
            let parts = parameter.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].trimmed.equalsIgnoringASCIICase("charset") else { continue }
            let name = parts[1].trimmed.filter { $0 != "\"" && $0 != "'" }
            return name.isEmpty ? nil : String(name)
        }
        return nil
    }
}
