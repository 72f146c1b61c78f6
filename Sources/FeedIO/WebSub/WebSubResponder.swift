import ByteText
import Feeds
import HTTPServing
import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Turns hubs' requests into calls, and the answers into responses.
struct WebSubResponder: HTTPResponder {
    /// The path before a subscription's name.
    let prefix: String
    let calls: WaitingCalls
    let uploads: Uploads
    let patience: TimeAmount

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        guard let path = subscription(in: request.uri.path) else { return Self.response(Subscription.unknownCallback) }
        switch request.method {
        case .get:
            let query = Self.parameters(request.uri.query ?? "")
            return Self.response(await ask(WebSubCall(path: path, kind: .verification(query)), context))
        case .post:
            let body: [UInt8]
            do {
                body = try await uploads.collect(
                    request.body, upTo: WebSubServerSettings.bodyMax, on: context.channel)
            } catch Uploads.Refusal.tooLong {
                // The rest of the body is not read.
                return Self.response(WebSubAnswer(status: 413), closes: true)
            } catch Uploads.Refusal.noRoom {
                return Self.response(WaitingCalls.noRoom, closes: true)
            }
            let headers = request.headers.map { HeaderField($0.name.canonicalName, $0.value) }
            return Self.response(
                await ask(WebSubCall(path: path, kind: .delivery(headers: headers, body: body)), context))
        default:
            var response = Self.response(WebSubAnswer(status: 405), closes: true)
            response.headers[.allow] = "GET, POST"
            return response
        }
    }

    /// The last part of a path under ours; `nil` if it cannot be the name of a subscription.
    private func subscription(in path: String) -> String? {
        guard path.hasPrefix(prefix) else { return nil }
        let name = path.dropFirst(prefix.count)
        guard name.utf8.count == WebSubCallback.pathLength, name.utf8.allSatisfy({ $0.hexDigitValue != nil }) else {
            return nil
        }
        return String(name)
    }

    private func ask(_ call: WebSubCall, _ context: ConnectionContext) async -> WebSubAnswer {
        var alarm: Scheduled<Void>?
        defer { alarm?.cancel() }
        // The server waits for its connections before it notifies anything else, so the calls end here.
        return await withGracefulShutdownHandler {
            await calls.ask(call) { id in
                alarm = context.channel.eventLoop.scheduleTask(in: patience) { calls.answer(id, WaitingCalls.noRoom) }
            }
        } onGracefulShutdown: {
            calls.close()
        }
    }

    private static let parametersMax = 32

    /// Reads a query. The first value of a name counts, and undecodable parts are left out.
    private static func parameters(_ query: String) -> [String: String] {
        var parameters: [String: String] = [:]
        for field in query.split(separator: "&").prefix(parametersMax) {
            let sides = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = sides.first?.percentDecoded(plusIsSpace: true), parameters[name] == nil else { continue }
            parameters[name] = sides.dropFirst().first?.percentDecoded(plusIsSpace: true)
        }
        return parameters
    }

    private static func response(_ answer: WebSubAnswer, closes: Bool = false) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = "text/plain; charset=utf-8"
        headers[.xContentTypeOptions] = "nosniff"
        headers[.cacheControl] = "no-store"
        if answer.status == 503 { headers[.retryAfter] = "60" }
        if closes { headers[.connection] = "close" }
        let body =
            answer.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: Array(answer.body.utf8)))
        return Response(status: HTTPResponse.Status(code: answer.status), headers: headers, body: body)
    }
}
