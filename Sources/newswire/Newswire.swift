import ArgumentParser
import NewswireCommands

@main
enum Newswire {
    static func main() async {
        Terminal.prepare()
        await NewswireCommand.main()
    }
}
