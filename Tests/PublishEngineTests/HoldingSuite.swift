import NewsModel
import PublishEngine

/// A suite whose engine holds events that are due in more than a minute.
protocol HoldingSuite {}

extension HoldingSuite {
    static var inAWeek: Duration { .seconds(7 * 86_400) }

    func shell(
        incarnation: Int = 0, change: (inout EngineSettings) -> Void = { _ in }
    ) throws -> TestShell {
        var shell = try TestShell {
            $0.holdsBeyond = .seconds(60)
            change(&$0)
        }
        shell.incarnation = incarnation
        _ = shell.assign()
        return shell
    }

    func embargo(_ time: Instant) -> String { #","embargoUntil":"\#(time)""# }
}
