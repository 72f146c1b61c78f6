public import Feeds
public import NIOCore
public import NIOPosix
internal import NIOSSL

/// Fetches documents, and posts forms to hubs. Fetches share only threads and the byte budget; none can harm another.
///
/// Each hop has its own connection, which is closed after its answer. Polls of one host are a minute apart, so open
/// connections would be thousands of idle sockets. Each new connection has its address checked again.
///
/// It uses NIO's HTTP handlers and not AsyncHTTPClient, which shows no resolved address before it connects. `CheckedResolver`
/// needs to refuse addresses inside the network there.
public final class Fetcher: Sendable {
    let settings: FetcherSettings
    let userAgent: String
    let tls: NIOSSLContext
    let lookUp: LookUp
    let lookups: NIOThreadPool
    let readers: NIOThreadPool
    let budget: ByteBudget
    private let group: any EventLoopGroup

    /// - Parameters:
    ///   - group: the event loops of the connections; not closed by `close`.
    ///   - lookUp: finds the addresses of a name, which are then checked. Called on threads where it may block.
    /// - Throws: if the trusted certificates cannot be loaded.
    public init(
        _ settings: FetcherSettings = FetcherSettings(),
        group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
        lookUp: @escaping LookUp = systemLookUp
    ) throws(FetchFailure) {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        configuration.trustRoots = settings.trust
        do { tls = try NIOSSLContext(configuration: configuration) } catch {
            throw FetchFailure(.tls, "the trusted certificates cannot be loaded: \(error)")
        }
        self.settings = settings
        self.group = group
        self.lookUp = lookUp
        userAgent = settings.userAgent
        budget = ByteBudget(settings.bodies)
        lookups = NIOThreadPool(numberOfThreads: max(settings.lookups, 1))
        readers = NIOThreadPool(numberOfThreads: max(settings.readers, 1))
        lookups.start()
        readers.start()
    }

    /// Fetches a document and reads it. Ends within `FetchLimits.whole` whatever the publisher does, plus the time for
    /// unpacking and reading.
    public func fetch(_ request: FetchRequest) -> RunningFetch { run(.document(request)) }

    /// Posts a form. The answer has a status and headers, never a document.
    public func post(_ request: WebSubRequest) -> RunningFetch { run(.form(request)) }

    private func run(_ order: FetchOrder) -> RunningFetch { RunningFetch(order, by: self, on: group.next()) }

    /// Stops the threads and waits for them. A lookup may take as long as the name servers do, so a process that is
    /// about to end need not call this. Fetches in flight fail.
    public func close() async {
        try? await lookups.shutdownGracefully()
        try? await readers.shutdownGracefully()
    }
}

public struct RunningFetch: Sendable {
    /// Always succeeds, and only once.
    public let result: EventLoopFuture<FetchResult>
    private let fetch: NIOLoopBoundBox<Fetch?>

    init(_ order: FetchOrder, by fetcher: Fetcher, on loop: any EventLoop) {
        let promise = loop.makePromise(of: FetchResult.self)
        let box = NIOLoopBoundBox<Fetch?>.makeEmptyBox(valueType: Fetch.self, eventLoop: loop)
        result = promise.futureResult
        fetch = box
        loop.execute {
            let fetch = Fetch(order, by: fetcher, on: loop) { result in
                box.value = nil
                promise.succeed(result)
            }
            box.value = fetch
            fetch.start()
        }
    }

    /// Ends the fetch at once, as `canceled`, unless it has ended.
    public func cancel() {
        result.eventLoop.execute { [fetch] in
            fetch.value?.end(.failed(FetchFailure(.canceled, "the fetch was canceled")))
        }
    }
}
