import ArgumentParser
import NewswireCommands

@main
enum Newswire {
    static func main() async { await NewswireCommand.main() }
}
