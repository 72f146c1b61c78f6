import ArgumentParser
import Foundation
import NewswireCommands

@main
enum Newswire {
    /// Not `async`: the first thread would then wait in `sigsuspend`, in which valgrind 3.19 crashes, and
    /// `benchmark path --instructions` could not run this program. It waits here instead, so nothing may wait for the main
    /// actor or the main queue.
    static func main() {
        // For `run` it means: read the settings again. Before they were read there is nothing to do.
        if CommandLine.arguments.dropFirst().first == "run" { signal(SIGHUP, SIG_IGN) }
        Terminal.prepare()
        Task.detached {
            await NewswireCommand.main()
            exit(EXIT_SUCCESS)
        }
        while true { pause() }
    }
}
