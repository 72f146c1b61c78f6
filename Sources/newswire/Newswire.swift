import ArgumentParser
import Foundation
import NewswireCommands

@main
enum Newswire {
    static func main() async {
        // For `run` it means: read the settings again. Before they were read there is nothing to do.
        if CommandLine.arguments.dropFirst().first == "run" { signal(SIGHUP, SIG_IGN) }
        Terminal.prepare()
        await NewswireCommand.main()
    }
}
