/// What the hub answers, and how the answer travels.
public struct HubHTTPResponse: Sendable, Equatable {
    /// How the bytes leave the hub; anything but `whole` is a fault that somebody asked for.
    public enum Transmission: Sendable, Equatable {
        case whole
        /// The connection is reset and no byte of the answer is sent.
        case reset
        /// The body is sent at this pace.
        case slow(bytesPerSecond: Int)
    }

    public var status: Int
    public var headers: HubHeaders
    public var body: [UInt8]
    /// How long the answer is held back, in milliseconds, 0…600 000.
    public var delayMilliseconds: Int64 = 0
    public var transmission = Transmission.whole

    public init(status: Int, headers: HubHeaders = [:], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}
