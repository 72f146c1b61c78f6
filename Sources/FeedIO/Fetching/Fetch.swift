import Feeds
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One fetch, from its first hop to its result. Runs on one event loop.
final class Fetch {
    private let order: FetchOrder
    private let fetcher: Fetcher
    private let loop: any EventLoop
    private let whenDone: (FetchResult) -> Void
    private var redirects: [FetchAnswer.Redirect] = []
    private var visited: Set<String> = []
    private var deadline: Scheduled<Void>?
    private var deadlineAt = NIODeadline.now()
    private let ticket: ByteBudget.Ticket
    /// Start of waiting for bytes of the budget. The publisher's deadline does not include this time.
    private var waitsSince: NIODeadline?
    private var hop: Hop?
    private var isDone = false

    private var limits: FetchLimits { fetcher.settings.limits }

    init(
        _ order: FetchOrder, by fetcher: Fetcher, on loop: any EventLoop, whenDone: @escaping (FetchResult) -> Void
    ) {
        self.order = order
        self.fetcher = fetcher
        self.loop = loop
        self.whenDone = whenDone
        ticket = fetcher.budget.begin()
    }

    func start() {
        setDeadline(NIODeadline.now() + TimeAmount(limits.whole))
        do throws(FetchFailure) {
            let address = try FetchAddress(order.url)
            try go(to: address, after: nil, order.rules(from: address, ports: limits.ports))
        } catch { fail(error) }
    }

    private func setDeadline(_ time: NIODeadline) {
        deadlineAt = time
        deadline?.cancel()
        deadline = loop.assumeIsolated().scheduleTask(deadline: time) { [self] in
            fail(FetchFailure(.timeout, "the answer was not complete within \(limits.whole)"))
        }
    }

    /// Reports the result once. Later results are ignored.
    func end(_ result: FetchResult) {
        guard !isDone else { return }
        isDone = true
        deadline?.cancel()
        deadline = nil
        hop?.abort()
        hop = nil
        fetcher.budget.end(ticket)
        whenDone(result)
    }

    private func fail(_ failure: FetchFailure) { end(.failed(failure)) }

    private func go(to address: FetchAddress, after previous: FetchAddress?, _ rules: AddressRules) throws(FetchFailure)
    {
        if let refusal = rules.refusal(of: address, after: previous) { throw refusal }
        guard visited.insert(address.text).inserted else {
            throw FetchFailure(.redirectLoop, "the publisher redirects in a circle; try the address in a browser")
        }
        let message = try order.message(
            to: address, userAgent: fetcher.userAgent, sendsHeaders: rules.sendsHeaders(to: address))
        let hop = Hop(to: address, sending: message, limits: limits) { [weak self] event in
            self?.receive(event, from: address, rules)
        }
        self.hop = hop
        hop.connect(on: loop, rules: rules, fetcher: fetcher)
    }

    private func receive(_ event: Hop.Event, from address: FetchAddress, _ rules: AddressRules) {
        switch event {
        case .failed(let failure): fail(failure)
        case .head(let head): receive(head, from: address, rules)
        case .received(let bytes): keep(bytes)
        case .body(let head, let body): read(body, of: answer(head, from: address), head)
        }
    }

    /// Pauses receiving while other fetches keep all of the budget.
    private func keep(_ bytes: Int) {
        let box = NIOLoopBound(self, eventLoop: loop)
        let isGranted = fetcher.budget.request(bytes, for: ticket) { [loop] in
            loop.execute { box.value.goOn() }
        }
        guard !isGranted else { return }
        waitsSince = .now()
        deadline?.cancel()
        hop?.pause()
    }

    private func goOn() {
        guard !isDone, let since = waitsSince else { return }
        waitsSince = nil
        setDeadline(deadlineAt + (NIODeadline.now() - since))
        hop?.resume()
    }

    private func receive(_ head: HTTPResponseHead, from address: FetchAddress, _ rules: AddressRules) {
        let status = Int(head.status.code)
        if order.follows(status), let location = head.headers.first(name: "location") {
            hop?.abort()
            do throws(FetchFailure) {
                guard redirects.count < limits.redirects else {
                    throw FetchFailure(.tooManyRedirects, "more than \(limits.redirects) redirects; check the address")
                }
                let next = try address.resolving(location)
                redirects.append(.init(status: status, from: address.text, to: next.text))
                try go(to: next, after: address, rules)
            } catch { fail(error) }
        } else if order.wantsBody(status) {
            hop?.receiveBody()
        } else {
            end(.answered(answer(head, from: address)))
        }
    }

    private func answer(_ head: HTTPResponseHead, from address: FetchAddress) -> FetchAnswer {
        let headers = head.headers.map { HeaderField($0.name.lowercased(), $0.value) }
        return FetchAnswer(
            status: Int(head.status.code), headers: headers.filter { FetchAnswer.wantedHeaders.contains($0.name) },
            redirects: redirects, finalURL: address.text)
    }

    /// Reads on another thread, because a document of 15 MiB would delay all other fetches of the event loop.
    private func read(_ body: ByteBuffer, of answer: FetchAnswer, _ head: HTTPResponseHead) {
        guard case .document(let request) = order else { return end(.answered(answer)) }
        deadline?.cancel()
        hop?.abort()
        let encodings = head.headers[canonicalForm: "content-encoding"].map(String.init)
        fetcher.readers.runIfActive(eventLoop: loop) { [limits] in
            answer.reading(body, encodings: encodings, for: request, limit: limits.body)
        }.assumeIsolated().whenComplete { [self] result in
            end((try? result.get()) ?? .failed(FetchFailure(.canceled, "the process is ending")))
        }
    }
}

extension TimeAmount {
    init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .seconds(seconds) + .nanoseconds(attoseconds / 1_000_000_000)
    }
}
