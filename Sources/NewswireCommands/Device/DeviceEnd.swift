import ArgumentParser
import BreakingNews
import Synchronization

/// The end of a device's life: a signal, an output that accepts nothing more, or a final refusal by the hub.
final class DeviceEnd: Sendable {
    private struct State {
        var exit: ExitCode?
        var isForbidden = false
    }

    private let state = Mutex(State())
    private let (ended, ending) = AsyncStream<Never>.makeStream()

    /// The first exit that was not caused by a signal.
    var exit: ExitCode? { state.withLock { $0.exit } }
    /// True if the hub refuses every call, including the one that would remove the device.
    var isForbidden: Bool { state.withLock { $0.isForbidden } }

    /// - Parameter exit: `nil` for a signal.
    func end(_ exit: ExitCode?) {
        state.withLock { $0.exit = $0.exit ?? exit }
        ending.finish()
    }

    /// Ends the device because of a failure that no retry would repair.
    func end(_ failure: RegistrationFailure) {
        if case .forbidden = failure.reason { state.withLock { $0.isForbidden = true } }
        end(.failure)
    }

    /// Returns once the device must end, or if the task is cancelled.
    func wait() async {
        for await _ in ended {}
    }
}

extension RegistrationFailure {
    /// The remedy for a person; `nil` for a temporary failure.
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
