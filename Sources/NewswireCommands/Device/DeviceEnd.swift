import ArgumentParser
import BreakingNews
import Synchronization

/// The end of a device's life: a signal, an output that takes nothing more, or a hub that refuses it for good.
final class DeviceEnd: Sendable {
    private struct State {
        var exit: ExitCode?
        var isForbidden = false
    }

    private let state = Mutex(State())
    private let (ended, ending) = AsyncStream<Never>.makeStream()

    /// The first one that is not a signal.
    var exit: ExitCode? { state.withLock { $0.exit } }
    /// The hub refuses every call, so also the one that would remove the device.
    var isForbidden: Bool { state.withLock { $0.isForbidden } }

    /// - Parameter exit: `nil` for a signal.
    func end(_ exit: ExitCode?) {
        state.withLock { $0.exit = $0.exit ?? exit }
        ending.finish()
    }

    /// A failure that no further try will mend.
    func end(_ failure: RegistrationFailure) {
        if case .forbidden = failure.reason { state.withLock { $0.isForbidden = true } }
        end(.failure)
    }

    /// Returns once the device is to end, or when the task is cancelled.
    func wait() async {
        for await _ in ended {}
    }
}

extension RegistrationFailure {
    /// What a person can do; `nil` for a failure that passes by itself.
    var remedy: String? {
        switch reason {
        case .unreachable, .busy: nil
        case .forbidden(status: 401, _):
            "copy the connection string again, and check this machine's clock"
        case .forbidden(status: 404, _): "check --hub and the Endpoint of the connection string"
        case .forbidden:
            "use a connection string with the Listen right, or with all rights for --user where the hub protects tags"
        case .refused: "check --platform, --handle and --categories"
        }
    }
}
