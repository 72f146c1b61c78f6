import ByteText
import Foundation
import HTTPServing
import HTTPTypes
import HubEmulator
import Hummingbird
import NIOCore
import NotificationHub
import ServiceLifecycle

/// Translates between HTTP and the hub's values; it makes no decisions.
struct HubResponder: HTTPResponder {
    let hub: ServedHub
    let inspection: Inspection
    let uploads: Uploads
    let isSecure: Bool

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let target = request.head.path ?? "/"
        var asked = HubHTTPRequest(method: request.method.rawValue, target: target)
        asked.isSecure = isSecure
        asked.headers.reserveCapacity(request.headers.count + 1)
        if let authority = request.head.authority { asked.headers.append("Host", authority) }
        for field in request.headers { asked.headers.append(field.name.rawName, field.value) }
        do {
            asked.body = try await body(of: request, asked, context)
        } catch is NIOTooManyBytesError {
            asked.bodyIsTooLong = true
        } catch Uploads.Refusal.tooLong {
            asked.bodyIsTooLong = true
        } catch Uploads.Refusal.noRoom {
            return Self.response(hub.unavailable(asked, "Too much is being uploaded at once.", retryAfter: 10))
        }
        if Inspection.isInspection(target) {
            guard inspection.admits(context.caller(request)) else {
                return Self.response(
                    Inspection.problem(
                        403,
                        "The emulator's own pages are available on this machine only, unless the hub was started with "
                            + "--remote-inspection; then by its address or a name without a dot."))
            }
            if let stream = await watch(asked, context) { return stream }
            return await deliver(await inspection.reply(to: asked), context)
        }
        if !EmulatedNamespace.isAddressed(by: asked),
            let page = Page.reply(to: asked, inspection, isAdmitted: inspection.admits(context.caller(request)))
        {
            return Self.response(page)
        }
        return await deliver(hub.handle(asked), context)
    }

    /// Reads the body. Only blobs and batches from authorised callers may be longer than sends.
    private func body(
        of request: Request, _ asked: HubHTTPRequest, _ context: ConnectionContext
    ) async throws -> [UInt8] {
        if EmulatedNamespace.mayBeLong(asked) {
            let lengthMax = hub.bodyLengthMax(of: asked)
            return try await uploads.collect(request.body, upTo: lengthMax, on: context.channel)
        }
        return Array(try await request.body.collect(upTo: SendRequest.bodyLengthMax).readableBytesView)
    }

    private func deliver(_ reply: HubHTTPResponse, _ context: ConnectionContext) async -> Response {
        if reply.delayMilliseconds > 0 { await context.pause(milliseconds: reply.delayMilliseconds) }
        switch reply.transmission {
        case .whole: break
        case .reset: await context.reset()
        case .slow(let bytesPerSecond):
            var response = Self.response(reply)
            let piece = max(1, bytesPerSecond / 10)
            let pause = Int64(1000 * piece / bytesPerSecond)
            response.body = Self.body(reply.body, pieces: piece) { await context.pause(milliseconds: pause) }
            return response
        }
        return Self.response(reply)
    }

    /// `GET /_emulator/stream?handle=…&handle=…`: deliveries as server-sent events, of the first hub or of the one in
    /// `hub=…`. Returns `nil` for any other request.
    private func watch(_ request: HubHTTPRequest, _ context: ConnectionContext) async -> Response? {
        guard request.method == "GET", request.target.hasPrefix("/_emulator/stream?"),
            let query = Inspection.query(of: request)
        else { return nil }
        let asked = query.fields.filter { $0.name == "handle" }.prefix(32)
        let handles = Set(asked.map(\.value).flatMap(DeviceHandle.spellings))
        guard let name = hub.withHub(named: query["hub"], { $0.settings.name }) else {
            return Self.response(Inspection.noSuchHub)
        }
        guard await context.beginStream(),
            let events = hub.streams.watch(handles, of: name, until: context.channel.closeFuture, as: { $0 })
        else {
            return Self.response(Inspection.problem(503, "Too many delivery streams are open."))
        }
        // A reader that reconnects sends the id of the last event it saw.
        let missed = request.headers["Last-Event-ID"].flatMap { Int($0) }.flatMap { last in
            hub.withHub(named: name.text) { $0.delivered.entries(after: last, limit: .max).map(\.entry) }?
                .filter { handles.contains($0.handle) }
        }
        // Deliveries made after the stream began occur in both lists.
        let lastMissed = missed?.last?.number ?? 0
        let body = ResponseBody { writer in
            try await writer.write(ByteBuffer(string: ": watching\n\n"))
            for delivery in missed ?? [] { try await writer.write(Self.event(delivery)) }
            // The server waits for its connections before it ends other services, so this stream must end itself.
            try await withGracefulShutdownHandler {
                for await event in events {
                    switch event {
                    case .delivery(let delivery) where delivery.number <= lastMissed: break
                    case .delivery(let delivery): try await writer.write(Self.event(delivery))
                    case .heartbeat: try await writer.write(ByteBuffer(string: ":\n\n"))
                    }
                }
            } onGracefulShutdown: {
                hub.streams.close()
            }
            try await writer.finish(nil)
        }
        let headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        return Response(status: .ok, headers: headers, body: body)
    }

    private static func event(_ delivery: PushedNotification) -> ByteBuffer {
        var bytes = Array("id: \(delivery.number)\nevent: delivery\ndata: ".utf8)
        delivery.json.write(into: &bytes)
        bytes += "\n\n".utf8
        return ByteBuffer(bytes: bytes)
    }

    /// Bytes of an answer that are passed to its connection at a time, so that the connection buffers only what its
    /// client reads.
    private static let pieceMax = 64 * 1024

    private static func body(
        _ bytes: [UInt8], pieces piece: Int = pieceMax, between pause: @escaping @Sendable () async -> Void = {}
    ) -> ResponseBody {
        ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: 0, to: bytes.count, by: piece) {
                if start > 0 { await pause() }
                try await writer.write(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + piece)]))
            }
            try await writer.finish(nil)
        }
    }

    static func response(_ reply: HubHTTPResponse) -> Response {
        var headers = HTTPFields()
        headers.reserveCapacity(reply.headers.fields.count + 3)
        for field in reply.headers.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            headers.append(HTTPField(name: name, value: field.value))
        }
        let body =
            reply.body.count > pieceMax
            ? self.body(reply.body)
            : reply.body.isEmpty ? ResponseBody() : ResponseBody(byteBuffer: ByteBuffer(bytes: reply.body))
        return Response(status: HTTPResponse.Status(code: reply.status), headers: headers, body: body)
    }
}

extension ConnectionContext {
    /// Ends the connection with a reset rather than an orderly close.
    func reset() async {
        let abort = linger(l_onoff: 1, l_linger: 0)
        try? await (connection as? any SocketOptionProvider)?.setSoLinger(abort).get()
        try? await connection.close().get()
    }
}
