import ArgumentParser
import CBuild
import Foundation
import NewswireCommands

@main
enum Newswire {
    /// Runs the command. Not `async`, because the first thread would then wait in `sigsuspend`, in which valgrind 3.19 crashes.
    /// `benchmark path --instructions` could then not run this program. The first thread waits here instead, so nothing may
    /// wait for the main actor or the main queue.
    static func main() {
        // For `run`, SIGHUP means to read the settings again. It is ignored until they were read for the first time.
        if CommandLine.arguments.dropFirst().first == "run" { signal(SIGHUP, SIG_IGN) }
        Terminal.prepare()
        Task.detached {
            await NewswireCommand.main(commit: String(cString: newswire_commit()))
            exit(EXIT_SUCCESS)
        }
        while true { pause() }
    }
}
