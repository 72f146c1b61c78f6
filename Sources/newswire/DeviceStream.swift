import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The bytes of a reply as they come. Foundation has no such thing on every system.
final class DeviceStream: NSObject, URLSessionDataDelegate {
    enum Piece: Sendable {
        case opened(status: Int)
        case bytes(Data)
    }

    /// Pieces that wait for the reader. When there are more the stream ends: a part missing in the middle would go
    /// unnoticed, and whoever opens it again asks for what came meanwhile.
    private static let waitingMax = 4096

    private let pieces: AsyncStream<Piece>.Continuation

    /// - Returns: what comes, until the reply ends or the task is cancelled.
    static func open(_ url: URL) -> AsyncStream<Piece> {
        let (stream, pieces) = AsyncStream<Piece>.makeStream(bufferingPolicy: .bufferingOldest(waitingMax))
        let configuration = URLSessionConfiguration.ephemeral
        // Of silence: news may be far between.
        configuration.timeoutIntervalForRequest = 24 * 3600
        let session = URLSession(configuration: configuration, delegate: DeviceStream(pieces), delegateQueue: nil)
        pieces.onTermination = { _ in session.invalidateAndCancel() }
        session.dataTask(with: url).resume()
        return stream
    }

    private init(_ pieces: AsyncStream<Piece>.Continuation) {
        self.pieces = pieces
    }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        pieces.yield(.opened(status: (response as? HTTPURLResponse)?.statusCode ?? 0))
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if case .dropped = pieces.yield(.bytes(data)) { pieces.finish() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        pieces.finish()
    }
}
