import ByteText
import HTTPTypes
import Hummingbird
import NIOCore
import NewsModel

/// The answers that all status servers share.
enum Answer {
    static let eventStream = "text/event-stream; charset=utf-8"

    static func wrongMethod(allowed: String) -> Response {
        var answer = problem(.methodNotAllowed, "Allowed here: \(allowed).")
        answer.headers[.allow] = allowed
        return answer
    }

    static func problem(_ status: HTTPResponse.Status, _ text: String) -> Response {
        json(status, StatusJSON.problem(text))
    }

    static var brokenQuery: Response {
        problem(.badRequest, "The query is not percent-encoded UTF-8: write % as %25.")
    }

    static func json(_ status: HTTPResponse.Status, _ bytes: [UInt8]) -> Response {
        answer(status, "application/json", bytes)
    }

    static func readiness(_ reasons: [ReadinessReason]) -> Response {
        json(reasons.isEmpty ? .ok : .serviceUnavailable, reasons.readiness)
    }

    static func file(_ file: (type: String, bytes: [UInt8])) -> Response {
        var response = answer(.ok, file.type, file.bytes)
        response.headers[.contentSecurityPolicy] =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
            + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        return response
    }

    static func answer(_ status: HTTPResponse.Status, _ type: String, _ bytes: [UInt8]) -> Response {
        var headers = HTTPFields()
        headers[.contentType] = type
        headers[.cacheControl] = "no-store"
        headers[.xContentTypeOptions] = "nosniff"
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}

extension Request {
    /// The fields of the query; `nil` if they cannot be decoded.
    var query: FormFields? { FormFields(uri.query ?? "") }
}
