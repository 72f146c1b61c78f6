import ByteText
import ControlIO
import EditorialControl
import HTTPServing
import HTTPTypes
import Hummingbird
import KafkaModel
import Logging
import NIOCore
import NewsModel
import OTLPTracing
import PublishEngine
import PublisherService
import ServiceLifecycle

/// Turns requests into answers about the publisher.
struct StatusResponder: HTTPResponder {
    let publisher: Publisher
    let exporter: SpanExporter?
    let feeds: @Sendable () -> [UInt8]?
    let control: ControlMonitor?
    let gate: AccessGate
    let log: Logger
    let refusals: RefusalLog

    /// The longest accepted body. Requests need no body, and a short one is ignored.
    private static let bodyMax = 4096
    private static let resultsMax = 200

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        do {
            _ = try await request.body.collect(upTo: Self.bodyMax)
        } catch is NIOTooManyBytesError {
            var answer = Answer.problem(.contentTooLarge, "No request here has a body.")
            // Closing the connection avoids reading the rest of the body.
            answer.headers[.connection] = "close"
            return answer
        }
        let path = request.uri.path
        let caller = context.caller(request)
        if let action = LaneAction(path: path) { return await act(action, request, caller, context) }
        if let order = OrderRequest(path: path) { return await give(order, request, caller, context) }
        guard gate.mayRead(caller, authorization: request.headers[.authorization]) else {
            return Answer.problem(
                .forbidden, "Ask for localhost or a loopback address, or show the token of http.token.")
        }
        if let file = PageFiles.publisher[path] {
            guard [.get, .head].contains(request.method) else { return Answer.wrongMethod(allowed: "GET, HEAD") }
            return Answer.file(file)
        }
        guard let page = Page(rawValue: path) else { return Answer.problem(.notFound, "There is nothing here.") }
        // A look-up reads topics, so it needs the right to act.
        let facts: Logger.Metadata = ["action": "look up", "caller": "\(caller.address)"]
        if page == .story, case .failure(let refusal) = allow(.get, request, caller, facts, context) {
            return refusal.answer
        }
        switch request.method {
        case .get: return await show(page, request, context)
        case .head:
            // The server drops the body of answers to HEAD, but this body would never end.
            if page == .stream {
                var answer = Answer.answer(.ok, Answer.eventStream, [])
                answer.body = ResponseBody { try await $0.finish(nil) }
                return answer
            }
            return await show(page, request, context)
        default: return Answer.wrongMethod(allowed: "GET, HEAD")
        }
    }

    private enum Page: String {
        case health = "/healthz"
        case readiness = "/readyz"
        case metrics = "/metrics"
        case status = "/api/status"
        case results = "/api/results"
        case history = "/api/history"
        case story = "/api/story"
        case feeds = "/api/feeds"
        case control = "/api/control"
        case stream = "/api/stream"
    }

    private func show(_ page: Page, _ request: Request, _ context: ConnectionContext) async -> Response {
        switch page {
        case .health:
            let stuck = publisher.metrics.status.stuck
            return Answer.json(stuck == nil ? .ok : .serviceUnavailable, StatusJSON.health(stuck: stuck))
        case .readiness: return Answer.readiness(publisher.metrics.status.notReady)
        case .metrics:
            let text = MetricsPage.text(publisher.metrics.status, .now, spans: exporter?.counts)
            return Answer.answer(.ok, MetricsText.contentType, text)
        case .status: return Answer.json(.ok, StatusJSON.status(publisher))
        case .results: return results(request)
        case .history:
            return Answer.json(.ok, StatusJSON.history(publisher.metrics.status, publisher.metrics.history))
        case .story: return await story(request)
        case .feeds: return Answer.json(.ok, feeds() ?? Array("null".utf8))
        case .control:
            guard let control else { return Answer.json(.ok, Array("null".utf8)) }
            let scene = await control.look(within: .seconds(2))
            return Answer.json(.ok, ControlJSON.scene(scene, at: control.now.wall))
        case .stream: return await stream(context)
        }
    }

    /// `?event=ID&limit=N`: the latest results, newest first.
    private func results(_ request: Request) -> Response {
        guard let query = request.query else { return Answer.brokenQuery }
        var limit = Self.resultsMax
        if let asked = query["limit"] {
            guard let number = Int(asked), (1...Self.resultsMax).contains(number) else {
                return Answer.problem(.badRequest, "limit must be a whole number from 1 to \(Self.resultsMax).")
            }
            limit = number
        }
        let results = publisher.metrics.recentResults(of: query["event"], limit: limit)
        return Answer.json(.ok, StatusJSON.results(results))
    }

    /// `?name=NAME`: the story that a recall of this name would be about, and what readers have of it.
    private func story(_ request: Request) async -> Response {
        guard let control else { return Answer.problem(.notFound, "Orders cannot be given here.") }
        guard let query = request.query else { return Answer.brokenQuery }
        guard let name = query["name"], !name.isEmpty, name.utf8.count <= Instruction.storyMax else {
            return Answer.problem(.badRequest, "Name the story or one of its events: ?name=…")
        }
        return switch await control.find(name) {
        case .success(let found): Answer.json(.ok, ControlJSON.found(found))
        case .failure(let refusal): Answer.refusal(refusal)
        }
    }

    /// Sends the status once a second as server-sent events, until the reader disconnects.
    private func stream(_ context: ConnectionContext) async -> Response {
        guard await context.beginStream() else {
            return Answer.problem(.serviceUnavailable, "Too many streams are open already.")
        }
        var response = Answer.answer(.ok, Answer.eventStream, [])
        response.body = ResponseBody { [publisher] writer in
            while !Task.isShuttingDownGracefully {
                let json = StatusJSON.status(publisher)
                try await writer.write(ByteBuffer(bytes: Array("data: ".utf8) + json + Array("\n\n".utf8)))
                await context.pause(milliseconds: 1000)
            }
            try await writer.finish(nil)
        }
        return response
    }

    // MARK: Actions

    private struct LaneAction {
        var lane: String
        var verb: Verb

        enum Verb: String {
            case pause, resume, release
        }

        /// Reads `/api/lanes/{lane}/pause`, `…/resume` and `…/release`.
        init?(path: String) {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 5, parts[1] == "api", parts[2] == "lanes", let verb = Verb(rawValue: String(parts[4]))
            else {
                return nil
            }
            guard let lane = parts[3].percentDecoded() else { return nil }
            self.lane = lane
            self.verb = verb
        }
    }

    private func act(
        _ action: LaneAction, _ request: Request, _ caller: Caller, _ context: ConnectionContext
    ) async -> Response {
        let facts: Logger.Metadata = [
            "action": "\(action.verb)", "lane": "\(action.lane.prefix(64))",
            "caller": "\(caller.address)",
        ]
        switch allow(.post, request, caller, facts, context) {
        case .failure(let refusal): return refusal.answer
        case .success(let proof):
            guard let lane = publisher.metrics.status.lanes.first(where: { $0.name == action.lane }) else {
                return Answer.problem(.notFound, "There is no such lane.")
            }
            guard let query = request.query else { return Answer.brokenQuery }
            // A misspelled `waiting` would send what the caller wants as dead letters.
            if let unknown = query.unknown(besides: action.verb == .release ? ["waiting"] : []) {
                return Answer.problem(.badRequest, "There is no parameter '\(unknown.prefix(40))' here.")
            }
            if let name = query.repeated { return Answer.problem(.badRequest, "The parameter \(name) is given twice.") }
            let waiting = query["waiting"] ?? FloodRelease.send.rawValue
            let answer = await carryOut(action.verb, lane, waiting: waiting)
            if answer.status == .ok {
                var facts = facts.merging(["as": "\(proof)"]) { $1 }
                if action.verb == .release { facts["waiting"] = "\(waiting)" }
                log.notice("operator action", metadata: facts)
            }
            return answer
        }
    }

    /// - Returns: the caller's proof, for the log.
    private func allow(
        _ method: HTTPRequest.Method, _ request: Request, _ caller: Caller, _ facts: Logger.Metadata,
        _ context: ConnectionContext
    ) -> Result<String, RefusedAction> {
        guard request.method == method else {
            return .failure(RefusedAction(answer: Answer.wrongMethod(allowed: method.rawValue)))
        }
        switch gate.mayAct(caller, authorization: request.headers[.authorization]) {
        case .allowed(let proof): return .success(proof)
        case .refused(let reason):
            refusals.note(reason, facts, on: context.channel.eventLoop)
            return .failure(RefusedAction(answer: Answer.problem(.forbidden, reason)))
        case .needsToken:
            let reason = "This needs the token of http.token, as a bearer token."
            refusals.note(reason, facts, on: context.channel.eventLoop)
            var answer = Answer.problem(.unauthorized, reason)
            answer.headers[.wwwAuthenticate] = "Bearer"
            return .failure(RefusedAction(answer: answer))
        }
    }

    private struct RefusedAction: Error {
        var answer: Response
    }

    private func carryOut(
        _ verb: LaneAction.Verb, _ lane: ServiceStatus.Lane, waiting: String
    ) async -> Response {
        switch verb {
        case .pause:
            _ = publisher.pause(lane: lane.name)
            return Answer.json(.ok, StatusJSON.paused(lane.name, true))
        case .resume:
            guard lane.isPaused || !lane.isFlooded else {
                return Answer.problem(
                    .conflict,
                    "Lane \(lane.name) is not paused: the flood guard stopped it. Release it with "
                        + "POST /api/lanes/\(lane.name)/release.")
            }
            _ = publisher.resume(lane: lane.name)
            return Answer.json(.ok, StatusJSON.paused(lane.name, false))
        case .release:
            guard let waiting = FloodRelease(rawValue: waiting) else {
                let choices = FloodRelease.allCases.map(\.rawValue).joined(separator: " or ")
                return Answer.problem(.badRequest, "waiting must be \(choices).")
            }
            guard lane.isFlooded else {
                return Answer.problem(.conflict, "Lane \(lane.name) is not stopped by the flood guard.")
            }
            do throws(KafkaFailure) {
                _ = try await publisher.release(lane: lane.name, waiting: waiting)
            } catch {
                return Answer.problem(.serviceUnavailable, "Nothing is released: \(error)")
            }
            return Answer.json(.ok, StatusJSON.released(lane.name, waiting))
        }
    }

    // MARK: Orders

    private func give(
        _ order: OrderRequest, _ request: Request, _ caller: Caller, _ context: ConnectionContext
    ) async -> Response {
        var facts: Logger.Metadata = ["action": "\(order.verb)", "caller": "\(caller.address)"]
        switch allow(.post, request, caller, facts, context) {
        case .failure(let refusal): return refusal.answer
        case .success(let proof): facts["as"] = "\(proof)"
        }
        guard let control else { return Answer.problem(.notFound, "Orders cannot be given here.") }
        guard let query = request.query else { return Answer.brokenQuery }
        let asked = order.instruction(
            query, caller: caller.address, rules: publisher.metrics.orderRules, at: control.now.wall)
        switch asked {
        case .failure(let problem): return Answer.problem(.badRequest, problem.text)
        case .success(let instruction):
            facts["scope"] = "\(instruction.scope.key)"
            facts["by"] = "\(instruction.by)"
            let given = await control.give(instruction, isUnseen: order.isUnseen(query))
            log.log(given.map(\.outcome), facts)
            return switch given {
            case .success(let given): Answer.json(.ok, ControlJSON.given(given))
            case .failure(let refusal): Answer.refusal(refusal)
            }
        }
    }
}

extension Answer {
    fileprivate static func refusal(_ refusal: OrderClient.Refusal) -> Response {
        switch refusal {
        case .standsNot: problem(.conflict, "It does not stand: there is nothing to lift.")
        case .name(.unseen(let name)):
            problem(.notFound, "\(NameProblem.unseen(name).sentence) unseen=true recalls it all the same.")
        case .name(let name): problem(.conflict, name.sentence)
        case .needsApproval: problem(.conflict, "\(refusal.sentence).")
        case .tooMany: problem(.conflict, "As many orders stand as a process keeps; lift some first.")
        case .failed, .halfway, .unheard: problem(.serviceUnavailable, refusal.sentence)
        }
    }
}

extension Logger {
    /// Logs what became of an order.
    fileprivate func log(_ outcome: Result<OrderOutcome, OrderClient.Refusal>, _ facts: Metadata) {
        var facts = facts
        switch outcome {
        case .success(let outcome):
            facts["applied"] = "\(outcome.answers.applied) of \(outcome.answers.processes)"
            notice("order given", metadata: facts)
        case .failure(let refusal):
            facts["reason"] = "\(refusal.sentence)"
            switch refusal {
            case .unheard: warning("order given; its effect is not known", metadata: facts)
            case .halfway: warning("order possibly given", metadata: facts)
            case .standsNot, .name, .tooMany, .needsApproval, .failed: notice("order not given", metadata: facts)
            }
        }
    }
}
